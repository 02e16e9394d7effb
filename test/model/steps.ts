/**
 * Random sequences: what they are made of, and how a step becomes a concrete operation. A step holds only numbers, which
 * choose among what is there when it is taken: so a sequence that fails can be made shorter and still means something.
 */
import {
  type Acl,
  type CreateMode,
  type CreateOrSetOp,
  type Guard,
  type ListingOp,
  type MultiOp,
  type MultiPart,
  type MultiReadOp,
  NO_SESSION,
  type Numbered,
  OPEN_ACL,
  type SessionId,
  type SingleWriteOp,
  type WriteOp,
} from '@quorate/protocol';
import fc from 'fast-check';
import type { ReferenceModel } from './reference.ts';
import type { Subject } from './subject.ts';

type CreateOp = Extract<SingleWriteOp, { kind: 'create' }>;

type Choice = readonly [kind: string, a: number, b: number, c: number];

/** What choices are made among. */
export interface Scene {
  readonly model: ReferenceModel;
  readonly sessions: readonly SessionId[];
}

/** One step: a word and three numbers. */
export type Step = Choice;

const WEIGHTS: Readonly<Record<string, number>> = {
  create: 12,
  deepCreate: 3,
  createOrSet: 3,
  deleteSubtree: 2,
  delete: 5,
  setData: 5,
  multi: 4,
  quota: 4,
  setAcl: 2,
  read: 4,
  readAll: 2,
  list: 4,
  open: 3,
  close: 1,
  expire: 1,
  apply: 6,
  time: 2,
  reap: 1,
  begin: 2,
  gather: 3,
  end: 2,
  restart: 1,
};

const number = fc.nat(0xffff);

export const step: fc.Arbitrary<Step> = fc.oneof(
  ...Object.entries(WEIGHTS).map(([kind, weight]) => ({
    weight,
    arbitrary: fc.tuple(fc.constant(kind), number, number, number),
  })),
);

export const sequence = fc.array(step, { minLength: 1, maxLength: 60, size: 'max' });

const NAMES = ['a', 'b', 'a', 'é', '..c', 'q-'];
const BAD_PATHS = ['', 'a', '/a/', '/a//b', '/a/./b', '/a/..', '/a\u0000', '/a\u0085', '/a\uf8ff', '/\ufff0'];
const MODES: readonly CreateMode[] = ['persistent', 'persistent', 'ephemeral', 'ephemeral', 'container', 'ttl'];

export function at<T>(from: readonly T[], index: number): T {
  return from[index % from.length]!;
}

/** Mostly a path that is there, seldom one that is not, or is none. */
export function existingPath({ model }: Scene, choice: number): string {
  if (choice % 16 === 0) return at(BAD_PATHS, choice >> 4);
  if (choice % 16 === 1) return '/nowhere/at/all';
  return at(model.paths(), choice >> 4);
}

/** Mostly a path for a new znode, which may be there already; seldom one whose parent is not. */
export function newPath(scene: Scene, choice: number, name: number): string {
  const parent = existingPath(scene, choice);
  // Below /zookeeper only what is built in.
  return parent.startsWith('/zookeeper') ? `/${at(NAMES, name)}` : `${parent === '/' ? '' : parent}/${at(NAMES, name)}`;
}

/** One that lives or has ended, or none. */
export function someSession({ sessions }: Scene, choice: number): SessionId {
  return at([NO_SESSION, ...sessions, ...sessions], choice);
}

export function someData(choice: number): Uint8Array | undefined {
  return choice % 5 === 0 ? undefined : new Uint8Array(choice % 7).fill(choice);
}

/** Mostly the right one or any. */
export function someVersion({ model }: Scene, path: string, choice: number): number | undefined {
  if (choice % 3 === 0) return undefined;
  return choice % 3 === 1 ? (model.znodes.get(path)?.version ?? 0) : choice % 4;
}

const ACLS: readonly Acl[] = [
  OPEN_ACL,
  OPEN_ACL,
  [
    { perms: 31, scheme: 'world', id: 'anyone' },
    { perms: 1, scheme: 'ip', id: '10.0.0.0/8' },
  ],
  [{ perms: 29, scheme: 'world', id: 'anyone' }],
  [{ perms: 30, scheme: 'world', id: 'anyone' }],
  [{ perms: 27, scheme: 'world', id: 'anyone' }],
  [{ perms: 23, scheme: 'world', id: 'anyone' }],
  [{ perms: 15, scheme: 'world', id: 'anyone' }],
  [],
  [{ perms: 31, scheme: 'auth', id: '' }],
];

/** Mostly one that leaves the world most rights. */
export function someAcl(choice: number): Acl {
  return at(ACLS, choice);
}

export function someCreate(scene: Scene, a: number, b: number): CreateOp {
  const mode = at(MODES, b >> 3);
  const sequential = b % 3 === 0 && (mode !== 'container' || b % 7 === 0);
  const shape = { kind: 'create', path: newPath(scene, a, b >> 6), data: someData(a), mode, sequential } as const;
  const lives = mode === 'ttl' ? { ...shape, ttlMs: 1 + (b % 4_000) } : shape;
  return a % 4 === 0 ? { ...lives, acl: someAcl(b >> 2) } : lives;
}

/** Below what may not be there. */
export function someDeepCreate(scene: Scene, a: number, b: number, c: number): CreateOp {
  const op = someCreate(scene, a, b);
  const under = at(['', '/a', '/b/a', '/é/b/..c'], c);
  return { ...op, path: under + op.path, parents: true };
}

export function someCreateOrSet(scene: Scene, a: number, b: number, c: number): CreateOrSetOp {
  const path = c % 3 === 0 ? existingPath(scene, a) : newPath(scene, a, b);
  const op = { kind: 'createOrSet', path, data: someData(b) } as const;
  return { ...op, ...(c % 5 === 0 && { parents: true }), ...(c % 7 === 0 && { acl: someAcl(a) }) };
}

/** Some make what others then change or delete. */
function somePart(scene: Scene, a: number, b: number, c: number): MultiPart {
  if (c % 64 === 0) return someDeepCreate(scene, a, b, c);
  if (c % 4 === 0) return someCreate(scene, a, b);
  const path = c % 3 === 0 ? newPath(scene, a, b) : existingPath(scene, a);
  const expectedVersion = someVersion(scene, path, b);
  if (c % 4 === 1) return { kind: 'delete', path, expectedVersion };
  if (c % 4 === 2) return { kind: 'setData', path, data: someData(c), expectedVersion };
  switch ((c >> 2) % 5) {
    case 0:
      return { kind: 'exists', path };
    case 1:
      return { kind: 'getData', path };
    case 2:
      return { kind: 'check', path, expectedVersion: b % 8 === 0 ? 0 : undefined, absent: true };
    default:
      return { kind: 'check', path, expectedVersion };
  }
}

export function someMulti(scene: Scene, a: number, b: number, c: number): MultiOp {
  const parts = Array.from({ length: b % 5 }, (_, i) => somePart(scene, a + 31 * i, b + 17 * i, c + 7 * i));
  return { kind: 'multi', parts };
}

export const READS = ['exists', 'getData', 'getChildren', 'getEphemerals', 'getAllChildrenNumber', 'getAcl'] as const;

export function someMultiRead(scene: Scene, a: number, b: number, c: number): MultiReadOp {
  const kinds = ['exists', 'getData', 'getChildren'] as const;
  const some = (i: number) => ({ kind: at(kinds, c + i), path: existingPath(scene, a + 37 * i) });
  return { kind: 'multiRead', parts: Array.from({ length: b % 4 }, (_, i) => some(i)) };
}

export function someListing(scene: Scene, a: number, b: number, c: number): ListingOp {
  const path = c % 2 === 0 ? at(['/', '/a', '/b'], a) : existingPath(scene, a);
  const wish = {
    path,
    withStat: b % 2 === 0,
    withData: b % 3 === 0,
    limit: 1 + (c % 3),
    token: undefined,
    isEnd: false,
  };
  if (b % 5 < 2) return { kind: 'listChildren', ...wish, after: at(['', '', 'a', 'b'], c >> 4) };
  return { kind: 'getSubtree', ...wish, depth: at([undefined, undefined, 0, 1, 2], c >> 4) };
}

/** Mostly none; then mostly one that holds. */
export function someGuards(scene: Scene, choice: number): Guard[] {
  if (choice % 4 !== 0) return [];
  const path = at(scene.model.paths(), choice >> 2);
  const { czxid, mzxid } = scene.model.existing(path);
  return [{ path, czxid: choice % 3 === 0 ? mzxid : czxid }];
}

/** A number in the session: none, one of the next, or one that may have been used. */
function someNumber(subject: Subject, session: SessionId, choice: number): Numbered | undefined {
  const last = subject.model.sessions.get(session)?.last ?? 0;
  const way = choice % 8;
  if (way < 3) return undefined;
  const request = way < 6 ? last + 1 : way === 6 ? last + 3 : Math.max(1, last - ((choice >> 3) % 4));
  return { request, acknowledged: Math.max(0, request - 1 - ((choice >> 3) % 6)) };
}

/** Sends a write by some session. */
function send(subject: Subject, op: WriteOp, choice: number): void {
  const session = someSession(subject, choice);
  const numbered = someNumber(subject, session, choice >> 5);
  subject.order(op, session, { numbered, guards: someGuards(subject, choice >> 4) });
}

const QUOTAS = ['/a', '/b', '/a', '/b', '/a/b'];
const LIMITS = ['count=1,bytes=4', 'count=-1,bytes=-1=;byteHardLimit=6;countHardLimit=3', ';countHardLimit=2'];

/** Sets, changes or removes a quota, or what says how much it holds, as tools do: through znodes. */
function sendQuota(subject: Subject, a: number, b: number, c: number): void {
  const top = `/zookeeper/quota${at(QUOTAS, a)}`;
  const path = `${top}/${b % 3 === 0 ? 'zookeeper_stats' : 'zookeeper_limits'}`;
  const text = c % 16 === 0 ? 'byteHardLimit=much' : at([...LIMITS, ';byteHardLimit=9'], c >> 4);
  const data = Uint8Array.from(text, (character) => character.charCodeAt(0));
  const shape = { data, mode: 'persistent', sequential: false } as const;
  if (b % 5 === 0) send(subject, { kind: 'delete', path, expectedVersion: undefined }, c);
  else if (b % 5 === 1) send(subject, { kind: 'setData', path, data, expectedVersion: undefined }, c);
  else {
    for (const above of at(QUOTAS, a).length > 3 ? [top.slice(0, top.lastIndexOf('/')), top] : [top]) {
      send(subject, { kind: 'create', path: above, ...shape, data: undefined }, 0);
    }
    send(subject, { kind: 'create', path, ...shape }, c);
  }
}

const TAKE: Readonly<Record<string, (subject: Subject, a: number, b: number, c: number) => void>> = {
  create: (subject, a, b, c) => send(subject, someCreate(subject, a, b), c),
  deepCreate: (subject, a, b, c) => send(subject, someDeepCreate(subject, a, b, c), c),
  createOrSet: (subject, a, b, c) => send(subject, someCreateOrSet(subject, a, b, c), c),
  deleteSubtree: (subject, a, _b, c) => send(subject, { kind: 'deleteSubtree', path: existingPath(subject, a) }, c),
  delete: (subject, a, b, c) => {
    const path = existingPath(subject, a);
    send(subject, { kind: 'delete', path, expectedVersion: someVersion(subject, path, b) }, c);
  },
  setData: (subject, a, b, c) => {
    const path = existingPath(subject, a);
    const expectedVersion = someVersion(subject, path, b);
    send(subject, { kind: 'setData', path, data: someData(c), expectedVersion }, c);
  },
  setAcl: (subject, a, b, c) => {
    const path = existingPath(subject, a);
    const aversion = b % 5 === 0 ? b % 3 : undefined;
    send(subject, { kind: 'setAcl', path, acl: someAcl(b), expectedVersion: aversion }, c);
  },
  multi: (subject, a, b, c) => send(subject, someMulti(subject, a, b, c), c),
  quota: (subject, a, b, c) => sendQuota(subject, a, b, c),
  read: (subject, a, b, c) => {
    subject.read({ kind: at(READS, b), path: existingPath(subject, a) }, someSession(subject, c));
  },
  readAll: (subject, a, b, c) => subject.read(someMultiRead(subject, a, b, c), someSession(subject, a)),
  list: (subject, a, b, c) => subject.list(someListing(subject, a, b, c)),
  open: (subject, a) => subject.open(4_000 + a),
  close: (subject, a) => subject.order({ kind: 'closeSession' }, someSession(subject, a)),
  expire: (subject, a) => subject.expire(someSession(subject, a)),
  apply: (subject, a) => subject.apply(a % 8),
  time: (subject, a) => subject.passTime(a % 6_000),
  reap: (subject) => subject.reap(),
  begin: (subject) => subject.beginCheckpoint(),
  gather: (subject, a) => subject.gather(at([1, 100, 10_000], a)),
  end: (subject, a) => subject.endCheckpoint(a % 4 !== 0),
  restart: (subject) => subject.restart(),
};

/** Takes one step; throws where product and model differ. */
export function take(subject: Subject, [kind, a, b, c]: Step): void {
  TAKE[kind]!(subject, a, b, c);
}
