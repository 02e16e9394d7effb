import { toZxid, type WatchEvent, type WatchEventKind, type WatchSpec } from '@quorate/protocol';
import { expect, it } from 'vitest';
import { WatchPosition } from './watch-position.ts';

const SPEC: WatchSpec = { path: '/', recursive: true, withValues: false, from: undefined, initial: true };

function event(kind: WatchEventKind, zxid: number, path = ''): WatchEvent {
  return { kind, zxid: toZxid(BigInt(zxid)), path, stat: undefined, data: undefined };
}

function take(position: WatchPosition, zxid: number, ...events: readonly WatchEvent[]): readonly string[] {
  const piece = { zxid: toZxid(BigInt(zxid)), events };
  return position.take(piece).map(({ kind, zxid: at, path }) => (path === '' ? `${kind} ${at}` : `${kind} ${path}`));
}

it('goes on after the last position, and does not say again that it is ready', () => {
  const position = new WatchPosition(SPEC);
  expect(position.begin()).toEqual(SPEC);
  expect(take(position, 0, event('current', 4, '/a'))).toEqual(['current /a']);
  expect(position.told).toBe(0n);
  expect(take(position, 5, event('ready', 5))).toEqual(['ready 5']);
  expect(take(position, 7, event('created', 7, '/b'))).toEqual(['created /b']);
  expect(position.begin().from).toBe(7n);
  expect(take(position, 8, event('ready', 7), event('deleted', 8, '/b'))).toEqual(['deleted /b']);
  expect(position.told).toBe(8n);
});

it('leaves out the changes of a txn that were told before it began again in the middle of it', () => {
  const position = new WatchPosition({ ...SPEC, initial: false });
  position.begin();
  take(position, 5, event('ready', 5));
  expect(take(position, 5, event('deleted', 6, '/a'), event('deleted', 6, '/b'))).toHaveLength(2);
  const again = [event('ready', 5), event('deleted', 6, '/a'), event('deleted', 6, '/b')];
  expect(position.begin().from).toBe(5n);
  // Cut off once more before it was past them: they come a third time.
  expect(take(position, 5, ...again.slice(0, 2))).toEqual([]);
  position.begin();
  expect(take(position, 6, ...again, event('deleted', 6, '/c'))).toEqual(['deleted /c']);
  position.begin();
  expect(take(position, 7, event('ready', 6), event('created', 7, '/a'))).toEqual(['created /a']);
});

it('says that the state is told anew when it was told in part', () => {
  const position = new WatchPosition(SPEC);
  position.begin();
  take(position, 0, event('current', 4, '/a'));
  expect(position.begin()).toEqual(SPEC);
  expect(take(position, 0, event('current', 6, '/b'))).toEqual(['gap 0', 'current /b']);
  expect(take(position, 7, event('ready', 7))).toEqual(['ready 7']);
});

it('a gap has the position after which it begins; cut off in the state that follows, there is another', () => {
  const position = new WatchPosition(SPEC);
  position.begin();
  take(position, 5, event('ready', 5));
  position.begin();
  expect(take(position, 0, event('gap', 90), event('current', 99, '/a'))).toEqual(['gap 5', 'current /a']);
  // Not from 5: a member that can go on from there would not tell the state.
  expect(position.begin().from).toBeUndefined();
  expect(take(position, 100, event('current', 100, '/a'), event('ready', 100))).toEqual([
    'gap 5',
    'current /a',
    'ready 100',
  ]);
  expect(position.begin().from).toBe(100n);
});

it('begun from a position it says that it is ready, once', () => {
  const position = new WatchPosition({ ...SPEC, from: toZxid(3n) });
  expect(position.begin().from).toBe(3n);
  expect(take(position, 3, event('ready', 3))).toEqual(['ready 3']);
  position.begin();
  expect(take(position, 3, event('ready', 3))).toEqual([]);
});
