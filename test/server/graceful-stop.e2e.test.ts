/** SIGTERM of a real member with many session streams: idle ones, some in a call, and one whose client does not want to go. */
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { type Client, connect } from '@quorate/client';
import { ByteWriter, NO_SESSION, ZERO_ZXID } from '@quorate/protocol';
import { ATTACH_PATH, FRAME_PROTOCOL_REVISION, writeClientHello } from '@quorate/protocol/frames';
import { afterEach, expect, it } from 'vitest';
import { EnsembleProcess, until } from '../e2e/ensemble-process.ts';

const STREAMS = 50;
/** The default of `stopGraceMs`, and as much again for a machine that is busy with other things. */
const WITHIN_MS = 2 * 8_000;

const stubborn: ClientHttp2Session[] = [];

afterEach(() => {
  for (const session of stubborn.splice(0)) session.destroy();
});

/** A client with a session stream that it never ends, whatever it is told. Resolves when its session is open. */
async function stubbornClient(address: string): Promise<void> {
  const session = connectHttp2(`http://${address}`);
  session.on('error', () => undefined);
  stubborn.push(session);
  const stream = session.request({
    ':method': 'POST',
    ':path': ATTACH_PATH,
    'content-type': 'application/grpc',
    te: 'trailers',
  });
  stream.on('error', () => undefined);
  const hello = new ByteWriter(64);
  const fields = { session: NO_SESSION, token: new Uint8Array(0), timeoutMs: 10_000, lastZxidSeen: ZERO_ZXID };
  writeClientHello(hello, { ...fields, protocolRevision: FRAME_PROTOCOL_REVISION });
  const frame = hello.finish();
  const head = Buffer.alloc(5);
  head.writeUInt32BE(frame.length, 1);
  stream.write(Buffer.concat([head, frame]));
  await new Promise<void>((resolve) => void stream.once('data', () => resolve()));
}

/** Clients whose session is at the member at `address`, though they know all. */
async function clientsAt(address: string, all: readonly string[]): Promise<Client[]> {
  const found: Client[] = [];
  while (found.length < STREAMS) {
    const clients = await Promise.all(Array.from({ length: 20 }, () => connect(all)));
    for (const client of clients) {
      const { current } = client.session;
      if (found.length < STREAMS && 'server' in current && current.server === address) found.push(client);
      else await client.close();
    }
  }
  return found;
}

it('C145: 50 session streams, half of them in calls, and a client that ignores the goodbye: code 0 in time, sessions go on', async () => {
  await using ensemble = await EnsembleProcess.start({ members: 3 });
  const victim = await ensemble.leader();
  const { pid } = ensemble.member(victim);
  const clients = await clientsAt(ensemble.address(victim), ensemble.addresses);
  await stubbornClient(ensemble.address(victim));
  const ids = clients.map((client) => client.session.id);
  const states: string[] = [];
  for (const client of clients) client.session.onChange(({ state }) => states.push(state));
  await Promise.all(clients.map((client, index) => client.create(`/e${index}`, '', { mode: 'ephemeral' })));
  let isOver = false;
  let written = 0;
  const busy = Promise.all(
    clients.slice(0, STREAMS / 2).map(async (client, index) => {
      for (; !isOver; written++) await client.set(`/e${index}`, 'busy');
    }),
  );
  await until('some writes', () => written > 200);
  const from = performance.now();
  ensemble.terminate(victim);
  const end = `Member ${victim} (pid ${pid}) is down: `;
  await until('its end', () => ensemble.output.includes(end), 2 * WITHIN_MS);
  const tookMs = performance.now() - from;
  console.log(`It ended after ${Math.round(tookMs)} ms`);
  expect(tookMs).toBeLessThan(WITHIN_MS);
  expect(ensemble.output).toContain(`${end}it ended with code 0`);
  await until('all to have moved', () => clients.every(({ session }) => session.current.state === 'connected'));
  isOver = true;
  await busy;
  await Promise.all(clients.map((client, index) => client.set(`/e${index}`, 'still here')));
  expect(clients.map((client) => client.session.id)).toEqual(ids);
  expect(states.filter((state) => state !== 'suspended' && state !== 'connected')).toEqual([]);
  await Promise.all(clients.map((client) => client.close()));
});
