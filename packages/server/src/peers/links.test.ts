/** Links between members, over real connections in this process. */
import { connect } from 'node:net';
import type { PeerMessage } from '@quorate/core';
import type { Zxid } from '@quorate/protocol';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { configOf, type MemberAddress } from '../config/index.ts';
import { createLog } from '../logging.ts';
import { Links } from './links.ts';

interface End {
  readonly links: Links;
  readonly ups: [sid: number, link: number][];
  readonly downs: [sid: number, link: number][];
  readonly messages: PeerMessage[];
  readonly log: string[];
}

const open: Links[] = [];

afterEach(async () => {
  await Promise.all(open.splice(0).map((links) => links.stop()));
});

interface Options {
  readonly clusterId?: string;
  /** Name of the first member, as this one knows it. */
  readonly host1?: string;
  readonly host2?: string;
}

/** A member's links; a peer port of 0 takes a free one. */
async function end(sid: number, ports: readonly number[], options: Options = {}): Promise<End> {
  const { host1 = '127.0.0.1', host2 = '127.0.0.1', ...settings } = options;
  const ensemble: MemberAddress[] = ports.map((port, index) => ({
    sid: index + 1,
    peer: { host: [host1, host2][index] ?? '127.0.0.1', port: port <= 1 ? index + 1 : port },
    observer: false,
    client: undefined,
  }));
  const config = configOf({ ensemble, sid, bind: '127.0.0.1', peerPort: ports[sid - 1] ?? 0, ...settings });
  const seen = { ups: [] as [number, number][], downs: [] as [number, number][], messages: [] as PeerMessage[] };
  const log: string[] = [];
  const links = await Links.open(
    { ...config, serverLimits: { ...config.serverLimits, peerQueueBytesMax: 8 * 1024 * 1024 } },
    createLog({ level: 'info', sid, place: () => undefined, write: (line) => log.push(line) }),
    {
      linkUp: (peer, link) => seen.ups.push([peer, link]),
      linkDown: (peer, link) => seen.downs.push([peer, link]),
      peerMessage: (_, __, message) => seen.messages.push(message),
    },
  );
  open.push(links);
  return { links, ...seen, log };
}

/** Two members that are about to be linked: 2 dials 1. */
async function pair(options: { clusterId?: string } = {}): Promise<[End, End]> {
  const one = await end(1, [0, 0]);
  const two = await end(2, [one.links.port, 0], options);
  one.links.start();
  two.links.start();
  return [one, two];
}

async function linked(one: End, two: End): Promise<void> {
  await vi.waitFor(() => expect([one.ups.length, two.ups.length]).toEqual([1, 1]));
}

const ack = (zxid: bigint): PeerMessage => ({ kind: 'ack', zxid: zxid as Zxid });

describe('a link', () => {
  it('comes up on both sides and carries messages both ways, in order, many in one write', async () => {
    const [one, two] = await pair();
    await linked(one, two);
    const sent = Array.from({ length: 500 }, (_, index) => ack(BigInt(index)));
    for (const message of sent) two.links.send(1, 1, message);
    two.links.flush();
    one.links.send(2, 1, ack(77n));
    one.links.flush();
    await vi.waitFor(() => expect(one.messages.length).toBe(500));
    expect(one.messages).toEqual(sent);
    await vi.waitFor(() => expect(two.messages).toEqual([ack(77n)]));
  });

  it('carries a message far longer than a frame may be, in pieces', async () => {
    const [one, two] = await pair();
    await linked(one, two);
    const requests = Array.from({ length: 7 }, (_, index) => new Uint8Array(1_000_000).fill(index));
    one.links.send(2, 1, { kind: 'forward', requests });
    one.links.flush();
    await vi.waitFor(() => expect(two.messages.length).toBe(7), { timeout: 10_000 });
    const received = two.messages.flatMap((message) => (message.kind === 'forward' ? message.requests : []));
    expect(received.map((request) => [request.length, request[0], request.at(-1)])).toEqual(
      requests.map((request) => [request.length, request[0], request[0]]),
    );
  });

  it('that is held is not read, whatever the other side sends, until it goes on; nothing is lost', async () => {
    const [one, two] = await pair();
    await linked(one, two);
    two.links.hold(1, 1, true);
    const sent = Array.from({ length: 300 }, (_, index) => ack(BigInt(index)));
    for (const message of sent) {
      one.links.send(2, 1, message);
      one.links.flush();
    }
    // The other direction goes on meanwhile.
    two.links.send(1, 1, ack(7n));
    two.links.flush();
    await vi.waitFor(() => expect(one.messages).toEqual([ack(7n)]));
    expect(two.messages).toEqual([]);
    two.links.hold(1, 1, false);
    await vi.waitFor(() => expect(two.messages).toEqual(sent));
    // One that is gone, or another one, is nothing to hold.
    two.links.hold(1, 99, true);
    two.links.hold(3, 1, true);
  });

  it('drops what is sent on a link that is not the current one', async () => {
    const [one, two] = await pair();
    await linked(one, two);
    two.links.send(1, 99, ack(1n));
    two.links.send(1, 1, ack(2n));
    two.links.flush();
    await vi.waitFor(() => expect(one.messages).toEqual([ack(2n)]));
  });

  it('comes up again, with a higher number, when either side closes it', async () => {
    const [one, two] = await pair();
    await linked(one, two);
    one.links.close(2, 1, 'test');
    await vi.waitFor(() => expect(two.ups.length).toBe(2));
    expect(two.downs).toEqual([[1, 1]]);
    two.links.close(1, 2, 'test');
    await vi.waitFor(() => expect(one.ups.length).toBe(3));
    expect(one.downs).toEqual([
      [2, 1],
      [2, 2],
    ]);
    expect(one.ups.map(([, link]) => link)).toEqual([1, 2, 3]);
  });

  it('comes up again when a member that was away is back at its port', async () => {
    const [one, two] = await pair();
    await linked(one, two);
    const port = one.links.port;
    await one.links.stop();
    await vi.waitFor(() => expect(two.downs.length).toBe(1));
    const back = await end(1, [port, 0]);
    back.links.start();
    await vi.waitFor(() => expect(back.ups.length).toBe(1));
  });

  it('is closed when more waits than the bound, so that the other side synchronizes anew', async () => {
    const [one, two] = await pair();
    await linked(one, two);
    const big: PeerMessage = { kind: 'forward', requests: [new Uint8Array(1_000_000)] };
    for (let i = 0; i < 12; i++) one.links.send(2, 1, { ...big });
    expect(one.downs).toEqual([[2, 1]]);
    await vi.waitFor(() => expect(two.downs).toEqual([[1, 1]]));
  });
});

describe('a member that does not belong here', () => {
  it('of another cluster is refused, on both sides, in the log too', async () => {
    const [one, two] = await pair({ clusterId: 'other' });
    await vi.waitFor(() => expect(two.log.join()).toContain('linkRefused'));
    expect(one.log.join()).toContain('belongs to cluster \\"other\\"');
    expect(two.log.join()).toContain('belongs to cluster \\"other\\"');
    expect([one.ups, two.ups]).toEqual([[], []]);
  });

  it('with a sid that is not in the list is refused', async () => {
    const one = await end(1, [0, 0]);
    const three = await end(3, [one.links.port, 1, 0]);
    one.links.start();
    three.links.start();
    await vi.waitFor(() => expect(one.log.join()).toContain('member 3 is not in the ensemble list of member 1'));
  });

  it('at the address of another is refused', async () => {
    const one = await end(1, [0, 0, 0]);
    const three = await end(3, [1, one.links.port, 0]);
    one.links.start();
    three.links.start();
    await vi.waitFor(() => expect(one.log.join()).toContain('took member 1 for member 2'));
  });

  it('cannot link while the member has not started', async () => {
    const one = await end(1, [0, 0]);
    const two = await end(2, [one.links.port, 0]);
    two.links.start();
    await vi.waitFor(() => expect(one.links.port).toBeGreaterThan(0));
    expect(two.ups).toEqual([]);
    one.links.start();
    await linked(one, two);
  });
});

describe('the name of a member', () => {
  it('is tried again when it cannot be resolved, and stops nothing (C106)', async () => {
    const one = await end(1, [0, 0, 0]);
    const three = await end(3, [one.links.port, 1, 0], { host2: 'nowhere.invalid' });
    one.links.start();
    three.links.start();
    await vi.waitFor(() => expect(three.log.join()).toContain('nameNotResolved'), { timeout: 20_000 });
    await vi.waitFor(() => expect(one.ups.map(([sid]) => sid)).toEqual([3]), { timeout: 20_000 });
  });

  it('is tried at each of its addresses (C082)', async () => {
    const one = await end(1, [0, 0]);
    const two = await end(2, [one.links.port, 0], { host1: 'localhost' });
    one.links.start();
    two.links.start();
    await linked(one, two);
  });
});

describe('garbage on the peer port', () => {
  it('ends its own connection only (C167)', async () => {
    const [one, two] = await pair();
    await linked(one, two);
    const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
    for (const bytes of [
      'GET / HTTP/1.1\r\n\r\n',
      '\x16\x03\x01\x02\x00',
      '\0'.repeat(4096),
      `${preface}\xff\xff\xff`,
    ]) {
      const socket = connect(one.links.port, '127.0.0.1');
      socket.on('error', () => undefined);
      socket.resume();
      socket.write(Buffer.from(bytes, 'latin1'));
      await new Promise((resolve) => socket.once('close', resolve));
    }
    two.links.send(1, 1, ack(5n));
    two.links.flush();
    await vi.waitFor(() => expect(one.messages).toEqual([ack(5n)]));
    expect(one.downs).toEqual([]);
  });
});
