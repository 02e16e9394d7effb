/** A list of children that is longer than any answer of our own API: the ZooKeeper port sends it whole, as ZooKeeper does. */
import { OP_CODE } from '@quorate/protocol/jute';
import { expect, it } from 'vitest';
import { createBody, multiBody, textsOf, watchBody } from './bodies.ts';
import { RawClient, requestFrame } from './raw-client.ts';
import { Standalone } from './standalone.ts';

const COUNT = 22_000;
const PER_MULTI = 2_000;

it('C136: more than 4 MiB of names are sent whole and in order, and what was asked meanwhile is answered in its turn', async () => {
  await using standalone = await Standalone.start();
  const { client } = await RawClient.session(standalone.port);
  using _ = client;
  await client.ask(1, OP_CODE.create, createBody('/big'));
  const names = Array.from({ length: COUNT }, (_, index) => `${String(index).padStart(8, '0')}-${'x'.repeat(191)}`);
  for (let from = 0; from < COUNT; from += PER_MULTI) {
    // Scattered over the whole.
    const some = Array.from({ length: PER_MULTI }, (_, index) => names[((from + index) * 7_919) % COUNT] ?? '');
    const parts = some.map((name) => ({ type: OP_CODE.create, body: createBody(`/big/${name}`) }));
    expect((await client.ask(2, OP_CODE.multi, multiBody(parts))).error).toBe(0);
  }
  // All at once: the create waits for the list, which must not show it.
  client.send(requestFrame(3, OP_CODE.getChildren, watchBody('/big')));
  client.send(requestFrame(4, OP_CODE.create, createBody('/big/z')));
  client.send(requestFrame(5, OP_CODE.getChildren2, watchBody('/big')));
  const list = await client.reply();
  expect(list.body.length).toBeGreaterThan(4 * 1024 * 1024);
  expect(textsOf(list.body)).toEqual(names);
  expect((await client.reply()).xid).toBe(4);
  const again = textsOf((await client.reply()).body);
  expect([again.length, again.at(-1)]).toEqual([COUNT + 1, 'z']);
});
