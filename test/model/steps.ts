/**
 * Random sequences: what they are made of, and how a step becomes a concrete operation. A step holds only numbers, which
 * choose among what is there when it is taken: so a sequence that fails can be made shorter and still means something.
 */
import { type CreateMode, type MultiPart, NO_SESSION, type SessionId, type SingleWriteOp } from '@quorate/protocol';
import fc from 'fast-check';
import type { Subject } from './subject.ts';

type Choice = readonly [kind: string, a: number, b: number, c: number];

/** One step: a word and three numbers. */
export type Step = Choice;

const WEIGHTS: Readonly<Record<string, number>> = {
  create: 12,
  delete: 5,
  setData: 5,
  multi: 4,
  read: 4,
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

const NAMES = ['a', 'b', 'é', '..c', 'q-'];
const BAD_PATHS = ['', 'a', '/a/', '/a//b', '/a/./b', '/a/..', '/a\u0000', '/a\u0085', '/a\uf8ff', '/\ufff0'];
const MODES: readonly CreateMode[] = ['persistent', 'persistent', 'ephemeral', 'ephemeral', 'container', 'ttl'];

function at<T>(from: readonly T[], index: number): T {
  return from[index % from.length]!;
}

/** Mostly a path that is there, seldom one that is not, or is none. */
export function existingPath({ model }: Subject, choice: number): string {
  if (choice % 16 === 0) return at(BAD_PATHS, choice >> 4);
  if (choice % 16 === 1) return '/nowhere/at/all';
  return at(model.paths(), choice >> 4);
}

/** Mostly a path for a new znode, which may be there already; seldom one whose parent is not. */
export function newPath(subject: Subject, choice: number, name: number): string {
  const parent = existingPath(subject, choice);
  // Below /zookeeper only what is built in.
  return parent.startsWith('/zookeeper') ? `/${at(NAMES, name)}` : `${parent === '/' ? '' : parent}/${at(NAMES, name)}`;
}

/** One that lives or has ended, or none. */
export function someSession({ sessions }: Subject, choice: number): SessionId {
  return at([NO_SESSION, ...sessions, ...sessions], choice);
}

export function someData(choice: number): Uint8Array | undefined {
  return choice % 5 === 0 ? undefined : new Uint8Array(choice % 7).fill(choice);
}

/** Mostly the right one or any. */
export function someVersion({ model }: Subject, path: string, choice: number): number | undefined {
  if (choice % 3 === 0) return undefined;
  return choice % 3 === 1 ? (model.znodes.get(path)?.version ?? 0) : choice % 4;
}

export function someCreate(subject: Subject, a: number, b: number): SingleWriteOp {
  const mode = at(MODES, b >> 3);
  const sequential = b % 3 === 0 && (mode !== 'container' || b % 7 === 0);
  const shape = { kind: 'create', path: newPath(subject, a, b >> 6), data: someData(a), mode, sequential } as const;
  return mode === 'ttl' ? { ...shape, ttlMs: 1 + (b % 4_000) } : shape;
}

/** Some make what others then change or delete. */
export function somePart(subject: Subject, a: number, b: number, c: number): MultiPart {
  if (c % 4 === 0) return someCreate(subject, a, b);
  const path = c % 3 === 0 ? newPath(subject, a, b) : existingPath(subject, a);
  const expectedVersion = someVersion(subject, path, b);
  if (c % 4 === 1) return { kind: 'delete', path, expectedVersion };
  if (c % 4 === 2) return { kind: 'setData', path, data: someData(c), expectedVersion };
  return { kind: 'check', path, expectedVersion };
}

const READS = ['exists', 'getData', 'getChildren', 'getEphemerals', 'getAllChildrenNumber'] as const;

const TAKE: Readonly<Record<string, (subject: Subject, a: number, b: number, c: number) => void>> = {
  create: (subject, a, b, c) => subject.order(someCreate(subject, a, b), someSession(subject, c)),
  delete: (subject, a, b, c) => {
    const path = existingPath(subject, a);
    subject.order({ kind: 'delete', path, expectedVersion: someVersion(subject, path, b) }, someSession(subject, c));
  },
  setData: (subject, a, b, c) => {
    const path = existingPath(subject, a);
    const expectedVersion = someVersion(subject, path, b);
    subject.order({ kind: 'setData', path, data: someData(c), expectedVersion }, someSession(subject, c));
  },
  multi: (subject, a, b, c) => {
    const parts = Array.from({ length: b % 5 }, (_, i) => somePart(subject, a + 31 * i, b + 17 * i, c + 7 * i));
    subject.order({ kind: 'multi', parts }, someSession(subject, c));
  },
  read: (subject, a, b, c) => {
    subject.read({ kind: at(READS, b), path: existingPath(subject, a) }, someSession(subject, c));
  },
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
