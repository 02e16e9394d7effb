/**
 * What clients do: writes and reads over a small set of znodes that everybody fights over, sequential znodes, ephemerals,
 * conditional changes with versions that may be old, guards; as the knobs say also what special-draws.ts draws. Every write that
 * carries data carries a value of its own, by which it can be found in the history. All drawn from the seed.
 */
import {
  type Guard,
  type Identity,
  type Op,
  type SingleWriteOp,
  TTL_MAX_MS,
  unreachable,
  type WriteOp,
} from '@quorate/protocol';
import { isWrite, partsOf } from '../calls.ts';
import type { ClientKnobs } from '../knobs.ts';
import type { Random } from '../random.ts';
import type { Reply } from './front.ts';
import { Known } from './known.ts';
import { QUEUE, ROOT } from './places.ts';
import {
  drawBounded,
  drawCompound,
  drawIdentities,
  drawListing,
  drawMulti,
  drawMultiRead,
  drawSecured,
  drawTimed,
  type Hand,
} from './special-draws.ts';

export interface Draw {
  readonly op: Op;
  readonly linearizable: boolean;
  readonly guards?: readonly Guard[];
  readonly identities?: readonly Identity[];
}

/** How often each kind of plain call is made; the others are set by the knobs. */
const PLAIN = {
  create: 14,
  sequential: 14,
  child: 4,
  setData: 18,
  delete: 10,
  deleteOwn: 8,
  getData: 14,
  exists: 6,
  getChildren: 6,
  sync: 6,
  bad: 1,
} as const;

type Kind = keyof typeof PLAIN | 'multi' | 'multiRead' | 'compound' | 'listing' | 'timed' | 'secured' | 'bounded';

/** One client's mind: what it knows of versions and names, and what it will do next. */
export class Workload {
  readonly #random: Random;
  readonly #name: string;
  readonly #paths: readonly string[];
  readonly #hasSession: boolean;
  /** How often a read asks to be linearizable. */
  readonly #linearizableChance: number;
  readonly #valueBytesMax: number;
  readonly #known: Known;
  readonly #weights: Readonly<Record<Kind, number>>;
  readonly #identities: readonly Identity[] | undefined;
  readonly #guardChance: number;
  /** How often a read leaves a watch. */
  readonly #watchChance: number;
  /** Whether some znodes that others fight over go by themselves. */
  readonly #isTimed: boolean;
  #values = 0;
  #begun = 0;
  #bounded = 0;
  readonly #hand: Hand;

  constructor(
    random: Random,
    options: {
      readonly name: string;
      readonly knobs: ClientKnobs;
      readonly hasSession: boolean;
      readonly hasStream: boolean;
    },
  ) {
    this.#random = random;
    this.#name = options.name;
    this.#hasSession = options.hasSession;
    this.#valueBytesMax = options.knobs.valueBytesMax;
    this.#linearizableChance = options.hasSession ? 0.25 : 0.6;
    const { multis, compounds, guards, watches, listings, timed, acls, quotas } = options.knobs;
    this.#known = new Known(random);
    this.#weights = {
      ...PLAIN,
      multi: multis,
      multiRead: multis / 2,
      compound: compounds,
      listing: listings,
      timed,
      secured: acls,
      bounded: quotas,
    };
    this.#identities = acls > 0 ? drawIdentities(random.fork('identities')) : undefined;
    this.#guardChance = guards;
    this.#watchChance = options.hasStream ? watches : 0;
    this.#isTimed = timed > 0;
    this.#paths = Array.from({ length: options.knobs.contended }, (_, index) => `${ROOT}/c${index}`);
    this.#hand = {
      random,
      hasSession: options.hasSession,
      value: () => this.#value(),
      version: (path) => this.#known.version(path),
      plainWrite: () => this.#plainWrite(),
      otherWrite: () => this.#otherWrite(),
      contendedPath: () => random.pick(this.#paths),
    };
  }

  /** The next call. The first ones make the parents, which others may have made already. */
  next(): Draw {
    this.#begun += 1;
    if (this.#begun === 1) return { op: this.#parent(ROOT), linearizable: false };
    if (this.#begun === 2) return { op: this.#parent(QUEUE), linearizable: false };
    const op = this.#watching(this.#draw());
    const guard = isWrite(op) && this.#random.chance(this.#guardChance) ? this.#guard(op) : undefined;
    return {
      op,
      linearizable: this.#random.chance(this.#linearizableChance),
      ...this.who,
      ...(guard && { guards: [guard] }),
    };
  }

  /** What it has shown for itself. */
  get who(): Pick<Draw, 'identities'> {
    return this.#identities === undefined ? {} : { identities: this.#identities };
  }

  /** Takes what an answer teaches. */
  learn(op: Op, reply: Reply): void {
    this.#known.learn(op, reply);
  }

  /** The read with a watch, now and then; or a lasting watch in its place, or none any more. */
  #watching(op: Op): Op {
    if (this.#watchChance === 0 || (op.kind !== 'exists' && op.kind !== 'getData' && op.kind !== 'getChildren'))
      return op;
    if (!this.#random.chance(this.#watchChance)) return op;
    const { path } = op;
    const kind = this.#random.weighted({ read: 10, addWatch: 1, removeWatches: 1 });
    if (kind === 'removeWatches') return { kind, path, watcher: 'any' };
    if (kind === 'addWatch') return { kind, path, mode: this.#random.pick(['persistent', 'persistentRecursive']) };
    return { ...op, watch: true };
  }

  #draw(): Op {
    const random = this.#random;
    return this.#drawKind(random.weighted(this.#weights), random.pick(this.#paths));
  }

  /** `path`: one that others fight over too. */
  #drawKind(kind: Kind, path: string): Op {
    const random = this.#random;
    switch (kind) {
      case 'create':
        return this.#create(path, random.chance(0.3), false);
      case 'sequential':
        return this.#create(`${QUEUE}/${random.pick(['a-', 'b-', ''])}`, random.chance(0.4), true);
      case 'child':
        return this.#create(`${path}/x`, false, false);
      case 'setData':
        return {
          kind: 'setData',
          path: this.#anyPath(path),
          data: this.#value(),
          expectedVersion: this.#known.version(path),
        };
      case 'delete':
        return {
          kind: 'delete',
          path: random.chance(0.2) ? `${path}/x` : path,
          expectedVersion: this.#known.version(path),
        };
      case 'deleteOwn':
        return { kind: 'delete', path: this.#known.takeOwn() ?? path, expectedVersion: undefined };
      case 'getData':
      case 'exists':
        return { kind, path: this.#anyPath(path) };
      case 'getChildren':
        return { kind, path: random.pick([ROOT, QUEUE, path]) };
      case 'multi':
        return drawMulti(this.#hand);
      case 'multiRead':
        return drawMultiRead(this.#hand);
      case 'compound':
        return drawCompound(this.#hand);
      case 'listing':
        return drawListing(this.#hand, random.chance(0.8) ? this.#known.takeListing() : undefined);
      case 'timed':
        return drawTimed(this.#hand);
      case 'secured':
        return drawSecured(this.#hand);
      case 'bounded':
        return drawBounded(this.#hand, this.#bounded++);
      case 'sync':
        return { kind, path };
      case 'bad':
        return this.#create(`${path}/${random.pick(['', '.', '../x', '\u0000'])}`, false, false);
      default:
        return unreachable(kind);
    }
  }

  /** Parents of everything go by nothing but a delete, which nobody wants. */
  #parent(path: string): SingleWriteOp {
    return { kind: 'create', path, data: this.#value(), mode: 'persistent', sequential: false };
  }

  #plainWrite(): SingleWriteOp {
    const random = this.#random;
    const path = random.pick(this.#paths);
    const kind = random.weighted({ create: 3, setData: 5, delete: 2 });
    const expectedVersion = this.#known.version(path);
    if (kind === 'create') return this.#create(path, random.chance(0.3), false);
    return kind === 'delete' ? { kind, path, expectedVersion } : { kind, path, data: this.#value(), expectedVersion };
  }

  #otherWrite(): SingleWriteOp {
    const { timed, secured, bounded } = this.#weights;
    if (timed + secured + bounded === 0) return this.#plainWrite();
    const kind = this.#random.weighted({ timed, secured, bounded });
    const op = this.#drawKind(kind, '');
    return op.kind === 'create' || op.kind === 'setData' || op.kind === 'delete' ? op : this.#plainWrite();
  }

  /** Of the znode itself, of what it stands under, or of any other. */
  #guard(op: WriteOp): Guard | undefined {
    const path = this.#random.pick([...partsOf(op).map((part) => part.path), this.#random.pick(this.#paths), QUEUE]);
    return this.#known.guard(path);
  }

  #create(path: string, isEphemeral: boolean, sequential: boolean): SingleWriteOp {
    const data = this.#random.chance(0.05) ? undefined : this.#value();
    if (isEphemeral && this.#hasSession) return { kind: 'create', path, data, mode: 'ephemeral', sequential };
    if (this.#values % 5 === 0) {
      // A TTL that no run lives to see, or one that ends while the others write.
      const ttlMs = this.#isTimed && this.#random.chance(0.5) ? this.#random.skewed(20, 3_000) : TTL_MAX_MS;
      return { kind: 'create', path, data, mode: 'ttl', ttlMs, sequential };
    }
    return { kind: 'create', path, data, mode: 'persistent', sequential };
  }

  #anyPath(path: string): string {
    const own = this.#known.oldestOwn;
    return own !== undefined && this.#random.chance(0.2) ? own : path;
  }

  #value(): Uint8Array {
    this.#values += 1;
    const padding = this.#random.chance(0.1) ? '.'.repeat(this.#random.between(1, this.#valueBytesMax)) : '';
    return asciiBytes(`${this.#name}:${this.#values}${padding}`);
  }
}

function asciiBytes(text: string): Uint8Array {
  return Uint8Array.from(text, (character) => character.charCodeAt(0));
}
