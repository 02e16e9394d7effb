/** A transaction: parts are gathered, checked as they come, and go out as one call that takes effect as a whole or not at all. */
import type { MultiOp, MultiPart, PartResult, Guard as ProtocolGuard } from '@quorate/protocol';
import { toProtocolAcl } from './acls.ts';
import type { CreateOptions, Guard, Transaction, TxnResult, WriteOptions } from './api.ts';
import { checkMode } from './create-mode.ts';
import { checkGuard } from './guards.ts';
import { type CallOptions, checkVersion } from './options.ts';
import type { Chroot } from './paths.ts';
import { type Data, makeZnode, toBytes } from './znode.ts';

/** Carries the whole out. */
export type Commit = (
  op: MultiOp,
  guards: readonly ProtocolGuard[],
  options: CallOptions,
) => Promise<{ readonly results: readonly PartResult[]; readonly zxid: bigint }>;

export class GatheredTransaction implements Transaction {
  readonly #chroot: Chroot;
  readonly #commit: Commit;
  readonly #parts: MultiPart[] = [];
  readonly #guards: ProtocolGuard[] = [];
  #isCommitted = false;

  constructor(chroot: Chroot, commit: Commit) {
    this.#chroot = chroot;
    this.#commit = commit;
  }

  check(path: string, version?: number): this {
    return this.#add({ kind: 'check', path: this.#chroot.inward(path), expectedVersion: checkVersion(version) });
  }

  checkAbsent(path: string): this {
    return this.#add({ kind: 'check', path: this.#chroot.inward(path), expectedVersion: undefined, absent: true });
  }

  get(path: string): this {
    return this.#add({ kind: 'getData', path: this.#chroot.inward(path) });
  }

  stat(path: string): this {
    return this.#add({ kind: 'exists', path: this.#chroot.inward(path) });
  }

  guard(guard: Guard): this {
    this.#guards.push(checkGuard(guard, (path) => this.#chroot.inward(path)));
    return this;
  }

  create(path: string, data?: Data, options: Pick<CreateOptions, 'mode' | 'sequential' | 'acl'> = {}): this {
    const { mode = 'persistent', sequential = false } = options;
    const lives = checkMode(mode, sequential);
    const acl = toProtocolAcl(options.acl);
    const inward = this.#chroot.inward(path, sequential);
    return this.#add({ kind: 'create', path: inward, data: toBytes(data), ...lives, sequential, ...(acl && { acl }) });
  }

  set(path: string, data: Data, options: Pick<WriteOptions, 'version'> = {}): this {
    if (data === undefined) throw new TypeError('data must be a string or a Uint8Array, not undefined');
    const expectedVersion = checkVersion(options.version);
    return this.#add({ kind: 'setData', path: this.#chroot.inward(path), data: toBytes(data), expectedVersion });
  }

  delete(path: string, options: Pick<WriteOptions, 'version'> = {}): this {
    const expectedVersion = checkVersion(options.version);
    return this.#add({ kind: 'delete', path: this.#chroot.inward(path), expectedVersion });
  }

  async commit(options: CallOptions = {}): Promise<readonly TxnResult[]> {
    if (this.#isCommitted) throw new TypeError('A transaction is committed once: begin another one');
    this.#isCommitted = true;
    const { results } = await this.#commit({ kind: 'multi', parts: this.#parts }, this.#guards, options);
    return results.map((result, index) => this.#outward(result, this.#parts[index]?.path ?? ''));
  }

  #add(part: MultiPart): this {
    if (this.#isCommitted) throw new TypeError('The transaction was committed: begin another one');
    this.#parts.push(part);
    return this;
  }

  #outward(result: PartResult, path: string): TxnResult {
    switch (result.kind) {
      case 'create':
        return { op: 'create', path: this.#chroot.outward(result.path), stat: result.stat };
      case 'setData':
        return { op: 'set', stat: result.stat };
      case 'getData':
        return { op: 'get', node: makeZnode(this.#chroot.outward(path), result.data, result.stat) };
      case 'exists':
        return { op: 'stat', stat: result.stat };
      default:
        return { op: result.kind };
    }
  }
}
