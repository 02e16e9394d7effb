/**
 * What clients ask for besides plain reads and writes of contended znodes, one function for each subject: multis, znodes that go by
 * themselves, access control lists, quotas. What a draw needs of its client comes as `Hand`.
 */
import {
  type Acl,
  type AclEntry,
  formatLimits,
  type Identity,
  type ListingOp,
  limitsPath,
  type MultiPart,
  NO_QUOTA_LIMITS,
  type Op,
  PERMS,
  quotaAncestors,
  type ReadPart,
  type SingleWriteOp,
  statsPath,
} from '@quorate/protocol';
import type { Random } from '../random.ts';
import { BOUNDED, BRIEF, CONTAINERS, QUEUE, SECURED, TWINS } from './places.ts';

export interface Hand {
  readonly random: Random;
  readonly hasSession: boolean;
  /** A value that nobody else writes. */
  readonly value: () => Uint8Array;
  readonly version: (path: string) => number | undefined;
  /** Some plain write, or one of a znode that others fight over too. */
  readonly plainWrite: () => SingleWriteOp;
  /** A write of what only some of the clients concern themselves with: see below. */
  readonly otherWrite: () => SingleWriteOp;
  readonly contendedPath: () => string;
}

/** A multi: on the twins, on whatever comes, or one of many sequential creates. */
export function drawMulti(hand: Hand): Op {
  const { random } = hand;
  const kind = random.weighted({ twins: 4, mixed: 3, other: 4, queue: 2, none: 0.2 });
  switch (kind) {
    case 'twins':
      return { kind: 'multi', parts: twinParts(hand) };
    case 'queue':
      return { kind: 'multi', parts: Array.from({ length: random.between(1, 4) }, () => enqueue(hand)) };
    case 'none':
      return { kind: 'multi', parts: [] };
    case 'other':
      // What may be refused, and what is not when the other is not.
      return { kind: 'multi', parts: random.shuffle([hand.otherWrite(), enqueue(hand)]) };
    case 'mixed': {
      const parts: MultiPart[] = Array.from({ length: random.between(1, 3) }, () =>
        random.chance(0.3) ? hand.otherWrite() : hand.plainWrite(),
      );
      const path = hand.contendedPath();
      if (random.chance(0.4)) parts.unshift({ kind: 'check', path, expectedVersion: hand.version(path) });
      if (random.chance(0.3)) parts.splice(random.between(0, parts.length), 0, look(hand));
      // A part that meets what the part before it has done.
      const [first] = parts;
      if (first?.kind === 'create' && random.chance(0.3)) {
        parts.push({ kind: 'setData', path: first.path, data: hand.value(), expectedVersion: 0 });
      }
      return { kind: 'multi', parts };
    }
  }
}

/** Creates that make their ancestors, writes that set or create; both also where ancestors come and go. */
export function drawCompound(hand: Hand): Op {
  const { random, value } = hand;
  const parents = random.chance(0.6) ? ({ parents: true } as const) : {};
  const path = random.pick([hand.contendedPath(), `${hand.contendedPath()}/x`, '/w/d', '/w/d/e', '/w/d/e/f', '/w/d/x']);
  const acl = path.startsWith('/w/d') && random.chance(0.1) ? { acl: drawAcl(random) } : {};
  const kind = random.weighted({ createOrSet: 5, create: 4, delete: 2, deleteSubtree: 2 });
  if (kind === 'deleteSubtree') {
    return { kind, path: random.chance(0.8) ? path : QUEUE, limit: random.between(1, 4) };
  }
  if (kind === 'delete') return { kind, path, expectedVersion: undefined };
  if (kind === 'createOrSet') return { kind, path, data: value(), ...parents, ...acl };
  const mode = hand.hasSession && random.chance(0.2) ? 'ephemeral' : 'persistent';
  return { kind, path, data: value(), mode, sequential: random.chance(0.2), ...parents, ...acl };
}

/** Several reads of one moment, most often of the twins. */
export function drawMultiRead(hand: Hand): Op {
  const { random } = hand;
  const paths = random.chance(0.6) ? random.shuffle(TWINS) : [hand.contendedPath(), QUEUE, random.pick(TWINS), '/w/d'];
  const parts = paths.map(
    (path): ReadPart => ({ kind: random.pick(['getData', 'getData', 'exists', 'getChildren']), path }),
  );
  return { kind: 'multiRead', parts };
}

/** The next page of a listing that goes on, or a first one. */
export function drawListing({ random, contendedPath }: Hand, goesOn: ListingOp | undefined): Op {
  if (goesOn !== undefined) return { ...goesOn, limit: random.between(0, 4), isEnd: random.chance(0.05) };
  const path = random.pick(['/w', '/w', QUEUE, random.pick(SECURED), contendedPath()]);
  const wish = { withStat: random.chance(0.5), withData: random.chance(0.3), limit: random.between(0, 4) };
  const base = { path, ...wish, token: undefined, isEnd: false };
  if (random.chance(0.5)) return { kind: 'listChildren', ...base, after: random.pick(['', '', 'a', 'q']) };
  return { kind: 'getSubtree', ...base, depth: random.chance(0.4) ? undefined : random.between(0, 2) };
}

/** A read, or a check that something is absent, somewhere among the parts. */
function look({ random, contendedPath }: Hand): MultiPart {
  const path = contendedPath();
  const kind = random.pick(['exists', 'getData', 'getData', 'absent'] as const);
  return kind === 'absent' ? { kind: 'check', path, expectedVersion: undefined, absent: true } : { kind, path };
}

function enqueue({ random, value }: Hand): MultiPart {
  return {
    kind: 'create',
    path: `${QUEUE}/${random.pick(['a-', 'm-'])}`,
    data: value(),
    mode: 'persistent',
    sequential: true,
  };
}

function twinParts({ random, value, version }: Hand): readonly MultiPart[] {
  const kind = random.weighted({ create: 2, setData: 4, delete: 1 });
  const paths = random.chance(0.5) ? TWINS : [...TWINS].reverse();
  return paths.map((path): MultiPart => {
    const expectedVersion = random.chance(0.2) ? version(path) : undefined;
    if (kind === 'delete') return { kind, path, expectedVersion };
    if (kind === 'setData') return { kind, path, data: value(), expectedVersion };
    return { kind, path, data: value(), mode: 'persistent', sequential: false };
  });
}

/** A container, a child of one, a znode with a short life: made, emptied, kept alive. */
export function drawTimed({ random, value, version }: Hand): Op {
  const isContainer = random.chance(0.6);
  const path = random.pick(isContainer ? CONTAINERS : BRIEF);
  const often = isContainer ? 5 : 1;
  const kind = random.weighted({ create: 4, child: often, deleteChild: often, setData: 2, read: 1 });
  const base = { data: value(), sequential: false } as const;
  switch (kind) {
    case 'create':
      if (isContainer) return { kind, path, mode: 'container', ...base };
      return { kind, path, mode: 'ttl', ttlMs: random.skewed(20, 3_000), ...base };
    case 'child':
      return { kind: 'create', path: `${path}/x`, mode: 'persistent', ...base };
    case 'deleteChild':
      return { kind: 'delete', path: `${path}/x`, expectedVersion: undefined };
    case 'setData':
      return { kind, path, data: base.data, expectedVersion: version(path) };
    case 'read':
      return { kind: random.pick(['getData', 'getChildren']), path };
  }
}

/** Writes and reads of znodes that not everybody may touch, and of their lists. */
export function drawSecured({ random, value, version }: Hand): Op {
  const path = random.pick(SECURED);
  const child = `${path}/x`;
  const kind = random.weighted({ create: 3, child: 2, setAcl: 3, setData: 4, delete: 1, deleteChild: 1, read: 5 });
  const created = { kind: 'create', data: value(), mode: 'persistent', sequential: false } as const;
  switch (kind) {
    case 'create':
      return { ...created, path, acl: drawAcl(random) };
    case 'child':
      return random.chance(0.5) ? { ...created, path: child } : { ...created, path: child, acl: drawAcl(random) };
    case 'setAcl':
      return {
        kind,
        path,
        acl: drawAcl(random),
        expectedVersion: random.chance(0.2) ? random.between(0, 3) : undefined,
      };
    case 'setData':
      return { kind, path, data: created.data, expectedVersion: version(path) };
    case 'delete':
      return { kind, path, expectedVersion: undefined };
    case 'deleteChild':
      return { kind: 'delete', path: child, expectedVersion: undefined };
    case 'read':
      return { kind: random.pick(['getData', 'getAcl', 'exists', 'getChildren', 'getAllChildrenNumber']), path };
  }
}

/** One or two entries; sometimes such as cannot be. */
function drawAcl(random: Random): Acl {
  const entries = [drawEntry(random)];
  if (random.chance(0.6)) entries.push(drawEntry(random));
  return random.chance(0.03) ? [] : entries;
}

function drawEntry(random: Random): AclEntry {
  const perms = random.chance(0.5) ? PERMS.ALL : random.between(1, PERMS.ALL);
  const scheme = random.pick(['world', 'world', 'auth', 'digest', 'ip']);
  switch (scheme) {
    case 'digest':
      return { perms, scheme, id: random.chance(0.05) ? 'nobody' : digestId(random.pick(PEOPLE)) };
    case 'ip':
      return { perms, scheme, id: random.pick(['10.0.0.0/8', '10.1.0.0/16', '10.1.0.1']) };
    default:
      return { perms, scheme, id: scheme === 'world' ? 'anyone' : '' };
  }
}

const PEOPLE = ['ann', 'bob', 'eve'] as const;

function digestId(name: string): string {
  return `${name}:of-${name}`;
}

/** What a client has shown for itself: an address, most often a name, seldom that it may do everything. */
export function drawIdentities(random: Random): readonly Identity[] {
  const identities: Identity[] = [{ scheme: 'ip', id: `10.${random.between(0, 1)}.0.${random.between(1, 2)}` }];
  if (random.chance(0.7)) identities.push({ scheme: 'digest', id: digestId(random.pick(PEOPLE)) });
  if (random.chance(0.1)) identities.push({ scheme: 'super', id: '' });
  return identities;
}

/** Writes below a quota, and of the quota itself. The first ones of a client make what must be there; `nth` counts from 0. */
export function drawBounded(hand: Hand, nth: number): Op {
  const { random, value, version } = hand;
  if (nth < 3) return firstBounded(hand, nth);
  const path = random.chance(0.2) ? BOUNDED : `${BOUNDED}/${random.between(0, 5)}`;
  const kind = random.weighted({ create: 6, setData: 4, delete: 3, quota: 3, readStats: 1, ephemeral: 1 });
  switch (kind) {
    case 'create':
      return { kind, path, data: value(), mode: 'persistent', sequential: false };
    case 'ephemeral':
      return { kind: 'create', path, data: value(), mode: hand.hasSession ? kind : 'persistent', sequential: false };
    case 'setData':
      return { kind, path, data: value(), expectedVersion: version(path) };
    case 'delete':
      return { kind, path, expectedVersion: undefined };
    case 'readStats':
      return { kind: 'getData', path: statsPath(BOUNDED) };
    case 'quota':
      return drawQuota(random);
  }
}

function made(path: string, data: Uint8Array | undefined): SingleWriteOp {
  return { kind: 'create', path, data, mode: 'persistent', sequential: false };
}

function firstBounded({ random, value }: Hand, nth: number): Op {
  if (nth === 0) return made(BOUNDED, value());
  if (nth === 1) return { kind: 'multi', parts: quotaAncestors(BOUNDED).map((path) => made(path, undefined)) };
  return quotaWhole(random);
}

function quotaWhole(random: Random): Op {
  return { kind: 'multi', parts: [made(limitsPath(BOUNDED), drawLimits(random)), made(statsPath(BOUNDED), undefined)] };
}

function drawLimits(random: Random): Uint8Array {
  const countHard = random.chance(0.7) ? random.between(1, 6) : -1;
  const bytesHard = random.chance(0.5) ? random.between(20, 120) : -1;
  return formatLimits({ ...NO_QUOTA_LIMITS, countHard, bytesHard });
}

function drawQuota(random: Random): Op {
  const kind = random.weighted({ whole: 3, set: 4, end: 1, stats: 1, nested: 0.3 });
  switch (kind) {
    case 'whole':
      return quotaWhole(random);
    case 'set':
      return { kind: 'setData', path: limitsPath(BOUNDED), data: drawLimits(random), expectedVersion: undefined };
    case 'end':
      return { kind: 'delete', path: limitsPath(BOUNDED), expectedVersion: undefined };
    case 'stats':
      return { kind: 'delete', path: statsPath(BOUNDED), expectedVersion: undefined };
    case 'nested':
      return made(limitsPath('/w'), drawLimits(random));
  }
}
