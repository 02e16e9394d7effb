/** What one simulated client knows of the tree from its answers: versions, births, and znodes of its own. It may all be old. */
import type { Guard, ListingOp, Op, OpResult, PartResult, Zxid } from '@quorate/protocol';
import { isWrite, partsOf } from '../calls.ts';
import type { Random } from '../random.ts';
import type { Reply } from './front.ts';
import { QUEUE } from './places.ts';

export class Known {
  readonly #random: Random;
  /** The last version seen of a path. */
  readonly #versions = new Map<string, number>();
  readonly #births = new Map<string, Zxid>();
  /** Znodes that this client has created in the queue, or seen there. */
  readonly #own: string[] = [];

  /** Listings that go on, as they are asked for again. */
  readonly #listings: ListingOp[] = [];

  constructor(random: Random) {
    this.#random = random;
  }

  /** Takes what an answer teaches. */
  learn(op: Op, reply: Reply): void {
    if (reply.kind !== 'answer') return;
    const { result } = reply.answer;
    if (result.kind === 'error') return;
    if (result.kind === 'listChildren' || result.kind === 'getSubtree') {
      if (result.next !== undefined && 'token' in op) this.#listings.push({ ...op, token: result.next });
      return;
    }
    if (result.kind === 'multi') {
      const paths = isWrite(op) ? partsOf(op).map(({ path }) => path) : [];
      result.results.forEach((part, index) => this.#see(paths[index] ?? '', part));
    } else this.#see('path' in op ? op.path : '', result);
  }

  /** Half of the time no version, else the one seen last, seldom a wrong one. */
  version(path: string): number | undefined {
    const seen = this.#versions.get(path);
    if (seen === undefined || this.#random.chance(0.5)) return undefined;
    return this.#random.chance(0.1) ? seen + 1 : seen;
  }

  /** A guard on that znode as it was seen last. */
  guard(path: string): Guard | undefined {
    const czxid = this.#births.get(path);
    return czxid === undefined ? undefined : { path, czxid };
  }

  /** The oldest of its own, which is then left to others. */
  takeOwn(): string | undefined {
    return this.#own.shift();
  }

  get oldestOwn(): string | undefined {
    return this.#own[0];
  }

  /** The oldest listing that goes on; it is then this call's. */
  takeListing(): ListingOp | undefined {
    return this.#listings.shift();
  }

  #see(asked: string, result: OpResult | PartResult): void {
    if (!('stat' in result) || result.stat === undefined) return;
    const path = result.kind === 'create' ? result.path : asked;
    this.#versions.set(path, result.stat.version);
    this.#births.set(path, result.stat.czxid);
    if (result.kind === 'create' && path.startsWith(`${QUEUE}/`)) this.#own.push(path);
    if (result.kind === 'getChildren' && path === QUEUE) {
      const name = result.children[this.#random.between(0, Math.max(0, result.children.length - 1))];
      if (name !== undefined) this.#own.push(`${QUEUE}/${name}`);
    }
  }
}
