/**
 * A listing that goes on while everything else happens: all its pages show the model as it was when it began, with what its caller, who
 * has proved nothing, may read. A restart is the end of it.
 */
import type { ListedZnode, ListingOp } from '@quorate/protocol';
import { expect } from 'vitest';
import { Deadlines } from '../../packages/core/src/pipeline/deadlines.ts';
import { Listings } from '../../packages/core/src/pipeline/listings.ts';
import { opFault } from '../../packages/core/src/pipeline/validate.ts';
import type { DataTree } from '../../packages/core/src/tree/data-tree.ts';
import { RIGHTS, requireRight } from './acls.ts';
import { type ReferenceModel, requirePath } from './reference.ts';
import { ModelRefusal } from './refused.ts';

const LIMITS = { listingsMax: 1, listingBytesMax: 1_000_000_000 };

export class ModelListing {
  readonly #state: { tree: DataTree };
  readonly #listings: Listings;
  #going: { readonly op: ListingOp; readonly left: ListedZnode[] } | undefined;

  constructor(tree: DataTree) {
    this.#state = { tree };
    const host = { nowMs: () => 0, wantTurn: () => undefined };
    this.#listings = new Listings({ sid: 1, incarnation: 1, limits: LIMITS }, this.#state, new Deadlines(), host);
  }

  get isGoing(): boolean {
    return this.#going !== undefined;
  }

  /** The next page of the one that goes on; else the first of a new one, of which `model` is the present. Returns its outcome. */
  step(op: ListingOp, model: ReferenceModel): string {
    if (this.#going !== undefined) return this.#page(this.#going.op, op.limit);
    const expected = foreseen(op, model);
    if (typeof expected === 'string') {
      const fault = opFault(op, 0n as never);
      const { result } = this.#listings.page(op, []);
      expect(fault?.code ?? (result.kind === 'error' ? result.code : result.kind)).toBe(expected);
      return `${op.kind} ${expected}`;
    }
    this.#going = { op, left: expected };
    return this.#page(op, op.limit);
  }

  /** The member has come back from its disk, with another tree. */
  restart(tree: DataTree): void {
    const going = this.#going;
    this.#going = undefined;
    this.#state.tree = tree;
    this.#listings.treeReplaced();
    if (going === undefined) return;
    expect(this.#listings.page(going.op, []).result).toMatchObject({ kind: 'error', code: 'GAP' });
  }

  finish(): void {
    while (this.#going !== undefined) this.#page(this.#going.op, 100);
  }

  #page(op: ListingOp, limit: number): string {
    const { result } = this.#listings.page({ ...op, limit }, []);
    if (!('entries' in result)) throw new Error(`${op.kind} of ${op.path} came to ${JSON.stringify(result)}`);
    const { entries, next } = result;
    const left = this.#going?.left ?? [];
    expect(entries).toEqual(left.splice(0, entries.length));
    if (next === undefined) expect(left).toEqual([]);
    this.#going = next === undefined ? undefined : { op: { ...op, token: next }, left };
    return op.kind;
  }
}

/** All that the listing has, or the code of its refusal. */
function foreseen(op: ListingOp, model: ReferenceModel): ListedZnode[] | string {
  try {
    requirePath(op.path);
    requireRight(model.existing(op.path), RIGHTS.read, op.path);
  } catch (error) {
    if (error instanceof ModelRefusal) return error.failure.code;
    throw error;
  }
  const listed: ListedZnode[] = [];
  const isChildren = op.kind === 'listChildren';
  const visit = (path: string, name: string, depth: number): void => {
    const znode = model.existing(path);
    const mayRead = isReadable(model, path);
    const isShown = mayRead && (op.withStat || op.withData);
    const stat = isShown ? model.stat(path) : undefined;
    if (!isChildren || depth > 0) listed.push({ name, stat, data: mayRead && op.withData ? znode.data : undefined });
    if (!mayRead || depth >= (isChildren ? 1 : (op.depth ?? Number.POSITIVE_INFINITY))) return;
    for (const child of model.childNames(path)) {
      const below = path === '/' ? `/${child}` : `${path}/${child}`;
      if (!isChildren || child > op.after) visit(below, isChildren ? child : below, depth + 1);
    }
  };
  visit(op.path, op.path, 0);
  return listed;
}

function isReadable(model: ReferenceModel, path: string): boolean {
  try {
    requireRight(model.existing(path), RIGHTS.read, path);
    return true;
  } catch (error) {
    if (error instanceof ModelRefusal) return false;
    throw error;
  }
}
