/** C167: whatever comes on the ZooKeeper port ends that connection at most: others go on, and nothing is held for what only was announced. */
import { ByteWriter } from '@quorate/protocol';
import { OP_CODE } from '@quorate/protocol/jute';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { bytes, createBody, createTtlBody, multiBody, setDataBody, versionBody, watchBody } from './bodies.ts';
import { connectFrame, RawClient, requestFrame } from './raw-client.ts';
import { Standalone } from './standalone.ts';

let standalone: Standalone;
let witness: RawClient;

beforeAll(async () => {
  standalone = await Standalone.start();
  ({ client: witness } = await RawClient.session(standalone.port));
});

afterAll(async () => {
  witness[Symbol.dispose]();
  await standalone[Symbol.asyncDispose]();
});

const FUZZ_FRAMES = Number(process.env['TEST_FRAMES'] ?? 20_000);

/** Mulberry32. */
function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

const numberOf = (value: number): Uint8Array => new ByteWriter().i32(value).finish();

describe('C167: what is no frame of a session', () => {
  it.each([
    ['a length of -1', numberOf(-1)],
    ['a length of 2147483647', numberOf(0x7fff_ffff)],
    ['a length of nothing', numberOf(0)],
    ['a request of the web', bytes('GET / HTTP/1.1\r\nHost: x\r\n\r\n')],
    ['a hello of TLS', Uint8Array.of(0x16, 0x03, 0x01, 0x02, 0x00, 0x01, 0x00, 0x01, 0xfc, 0x03, 0x03)],
    ['a first frame that is too short', new ByteWriter().u32(12).i32(0).u64(0n).finish()],
    [
      'a first frame with a password of 2147483647',
      new ByteWriter().u32(28).i32(0).u64(0n).i32(0).u64(0n).i32(0x7fff_ffff).finish(),
    ],
  ])('ends the connection: %s', async (_what, sent) => {
    const client = await RawClient.open(standalone.port);
    client.send(sent);
    expect(await client.rest()).toHaveLength(0);
    expect((await witness.ask(1, OP_CODE.exists, watchBody('/'))).error).toBe(0);
  });

  it('ends the connection in a session too: a frame without a header', async () => {
    const { client } = await RawClient.session(standalone.port);
    client.send(numberOf(0));
    expect(await client.rest()).toHaveLength(0);
    expect((await witness.ask(1, OP_CODE.exists, watchBody('/'))).error).toBe(0);
  });
});

describe('C167: frames of every kind, with bytes of them changed, cut off and added', () => {
  const samples: readonly { readonly type: number; readonly body: Uint8Array }[] = [
    { type: OP_CODE.create, body: createBody('/fuzz/a', bytes('data')) },
    { type: OP_CODE.create2, body: createBody('/fuzz/b-', bytes('data'), 3) },
    { type: OP_CODE.createContainer, body: createBody('/fuzz/c', undefined, 4) },
    { type: OP_CODE.createTtl, body: createTtlBody('/fuzz/t', 5, 10n) },
    { type: OP_CODE.delete, body: versionBody('/fuzz/a') },
    { type: OP_CODE.exists, body: watchBody('/fuzz/a') },
    { type: OP_CODE.getData, body: watchBody('/fuzz') },
    { type: OP_CODE.setData, body: setDataBody('/fuzz/a', bytes('other')) },
    { type: OP_CODE.getChildren2, body: watchBody('/fuzz') },
    { type: OP_CODE.setWatches, body: new ByteWriter().u64(1n).i32(1).string('/fuzz').i32(0).i32(0).finish() },
    { type: OP_CODE.addWatch, body: versionBody('/fuzz', 1) },
    { type: OP_CODE.auth, body: new ByteWriter().i32(0).string('digest').bytes(bytes('a:b')).finish() },
    {
      type: OP_CODE.multi,
      body: multiBody([
        { type: OP_CODE.create, body: createBody('/fuzz/m') },
        { type: OP_CODE.check, body: versionBody('/fuzz') },
        { type: OP_CODE.delete, body: versionBody('/fuzz/m') },
      ]),
    },
    { type: OP_CODE.whoAmI, body: new Uint8Array(0) },
    { type: OP_CODE.ping, body: new Uint8Array(0) },
  ];
  const odd = [0, -1, 1, 0x7fff_ffff, -0x8000_0000, 0xffff, 1_000_000_000];

  function spoilt(frame: Uint8Array, random: () => number): Uint8Array {
    const copy = Uint8Array.from(frame);
    const below = (limit: number): number => Math.floor(random() * limit);
    for (let changes = below(4); changes > 0; changes--) {
      const at = below(copy.length);
      if (random() < 0.5) copy[at] = below(256);
      else if (at + 4 <= copy.length) new DataView(copy.buffer).setInt32(at, odd[below(odd.length)] as number);
    }
    const cut = random() < 0.2 ? copy.subarray(0, below(copy.length)) : copy;
    // Most keep a length that is right, so that what is inside is looked at.
    if (random() < 0.9 && cut.length >= 4) new DataView(cut.buffer).setInt32(0, cut.length - 4);
    return cut;
  }

  it(`${FUZZ_FRAMES} of them: the member lives, answers others, and holds nothing of it`, {
    timeout: 900_000,
  }, async () => {
    const random = randomOf(7);
    let sent = 0;
    let connections = 0;
    const heap = (): number => process.memoryUsage().rss;
    const before = heap();
    while (sent < FUZZ_FRAMES) {
      const client = await RawClient.open(standalone.port);
      connections++;
      const first = connectFrame({ timeoutMs: 1, readOnly: random() < 0.5 });
      const frames = [random() < 0.1 ? spoilt(first, random) : first];
      for (let i = 0; i < 40; i++) {
        const { type, body } = samples[Math.floor(random() * samples.length)] as (typeof samples)[number];
        frames.push(spoilt(requestFrame(i, type, body), random));
      }
      sent += frames.length;
      client.socket.end(Buffer.concat(frames));
      await client.rest();
      client[Symbol.dispose]();
      if (connections % 50 === 0) expect((await witness.ask(1, OP_CODE.exists, watchBody('/'))).error).toBe(0);
    }
    expect((await witness.ask(2, OP_CODE.create, createBody(`/alive-${sent}`))).error).toBe(0);
    expect(standalone.member.status()?.serving).toBe(true);
    // Generous: it is for what grows with the frames, not for what the loop happens to hold.
    expect(heap() - before).toBeLessThan(300 * 1024 * 1024);
  });
});
