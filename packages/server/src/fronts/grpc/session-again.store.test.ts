/** Going on with a session at other members of an ensemble, frame by frame, as a client of any make would. */
import type { SessionId } from '@quorate/protocol';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { TestEnsemble } from '../../testing.ts';
import { clientAt, RawStream } from './front.fixture.ts';

let ensemble: TestEnsemble;

beforeAll(async () => {
  ensemble = await TestEnsemble.start({ size: 3, observers: 1, config: { tickMs: 250, sessionTimeoutMinMs: 1_000 } });
});

afterAll(async () => {
  await ensemble.stop();
});

const ephemeral = (path: string) =>
  ({ kind: 'create', path, data: new Uint8Array(0), mode: 'ephemeral', sequential: false }) as const;

describe('a session whose connection was cut', () => {
  it('C015: goes on at each member inside its timeout: same id, same timeout, its ephemeral is there', async () => {
    const [first, ...others] = ensemble.servers;
    using client = clientAt(first ?? '');
    let stream = new RawStream(client.client).hello({ timeoutMs: 5_000 });
    await vi.waitFor(() => expect(stream.serverHello).toBeDefined());
    const { session, token } = stream.serverHello ?? { session: 0n as SessionId, token: new Uint8Array(0) };
    expect(stream.serverHello).toMatchObject({ resumed: false, timeoutMs: 5_000 });
    stream.calls(ephemeral('/mine'));
    await vi.waitFor(() => expect(stream.replies[0]?.answer.result.kind).toBe('create'));
    for (const server of others) {
      stream.call.cancel();
      using next = clientAt(server);
      stream = new RawStream(next.client).hello({ session, token, timeoutMs: 5_000 });
      await vi.waitFor(() => expect(stream.serverHello).toBeDefined());
      expect(stream.serverHello).toMatchObject({ session, resumed: true, timeoutMs: 5_000 });
      stream.calls({ kind: 'exists', path: '/mine' });
      await vi.waitFor(() => expect(stream.replies.length).toBe(1));
      expect(stream.replies[0]?.answer.result).toMatchObject({ kind: 'exists', stat: { ephemeralOwner: session } });
    }
  });

  it('C015: has ended at every member after its timeout: refused by name, and never a fresh session in its place', async () => {
    using client = clientAt(ensemble.servers[0] ?? '');
    const stream = new RawStream(client.client).hello({ timeoutMs: 1_000 });
    await vi.waitFor(() => expect(stream.serverHello).toBeDefined());
    const { session, token } = stream.serverHello ?? { session: 0n as SessionId, token: new Uint8Array(0) };
    stream.calls(ephemeral('/ends'));
    await vi.waitFor(() => expect(stream.replies.length).toBe(1));
    const before = ensemble.member(0).status()?.sessions ?? 0;
    stream.call.cancel();
    await ensemble.until(() => ensemble.member(0).status()?.sessions === before - 1, 'the session to end');
    await ensemble.converged();
    for (const server of ensemble.servers) {
      using next = clientAt(server);
      const again = new RawStream(next.client).hello({ session, token });
      await vi.waitFor(() => expect(again.closed?.code).toBe('SESSION_EXPIRED'));
      expect(again.serverHello).toBeUndefined();
    }
    expect(ensemble.member(0).status()?.sessions).toBe(before - 1);
  });
});
