/**
 * What the agreement asks of the member around it, carried out: messages and disk work become actions, committed txns are
 * applied, a snapshot from the leader becomes the tree. Called from inside the agreement, so it never calls back into it.
 */
import { assert, DecodeError, formatZxid, type Sid, type Zxid } from '@quorate/protocol';
import type { Entry } from '../pipeline/entry.ts';
import { finish } from '../pipeline/finish.ts';
import type { DataTree } from '../tree/data-tree.ts';
import { TreeLoader } from '../tree/tree-loader.ts';
import { decodeTxn } from '../tree/txn-codec.ts';
import type { VoteRight } from '../zab/config.ts';
import type { Standing, StorageCommand, ZabHost } from '../zab/host.ts';
import type { LogRecord, StateRecord, ZabMessage } from '../zab/messages.ts';
import type { Checkpointing } from './checkpointing.ts';
import type { Now } from './events.ts';
import type { Outbox } from './outbox.ts';
import type { Routing } from './routing.ts';
import type { Trust } from './trust.ts';

/** The parts of the member that the agreement reaches. */
export interface ZabHostParts {
  readonly outbox: Outbox;
  readonly entry: Entry;
  readonly routing: Routing;
  readonly checkpointing: Checkpointing;
  readonly trust: Trust;
  /** The clocks at this step. */
  readonly now: () => Now;
  readonly replaceTree: (tree: DataTree) => void;
  /** The member cannot go on; says so once. */
  readonly fail: (reason: string) => void;
  /** True once it has failed: nothing is applied any more. */
  readonly hasFailed: () => boolean;
}

export class MemberZabHost implements ZabHost {
  readonly #parts: ZabHostParts;
  #loader: TreeLoader | undefined;
  /** The snapshot's state, whole and checked, while its way to the disk is not over. */
  #incoming: DataTree | undefined;

  constructor(parts: ZabHostParts) {
    this.#parts = parts;
  }

  send(sid: Sid, link: number, message: ZabMessage): void {
    this.#parts.outbox.push({ kind: 'send', sid, link, message });
  }

  persist(command: StorageCommand): number {
    return this.#parts.outbox.persist(command);
  }

  deliver(record: LogRecord): void {
    const { entry, routing, checkpointing, trust, hasFailed } = this.#parts;
    if (hasFailed()) return;
    const wrong = decodeFault(() => finish(entry, routing.desk, record.zxid, decodeTxn(record.payload)));
    // Bytes that were agreed on and cannot be read leave no way to go on in step with the others.
    if (wrong !== undefined) this.#parts.fail(`Cannot read txn ${formatZxid(record.zxid)}: ${wrong}`);
    checkpointing.delivered(record.payload.length);
    trust.applied(record.zxid);
  }

  standing(standing: Standing): void {
    const { routing, trust, now } = this.#parts;
    routing.stand(standing, now());
    trust.stand(standing.kind === 'leading');
  }

  closeLink(sid: Sid, link: number, reason: string): void {
    this.#parts.outbox.push({ kind: 'closeLink', sid, link, reason });
  }

  openState(stream: number): void {
    this.#parts.outbox.push({ kind: 'openState', stream });
  }

  sendState(stream: number, sid: Sid, link: number): void {
    this.#parts.outbox.push({ kind: 'sendState', stream, sid, link });
  }

  closeState(stream: number): void {
    this.#parts.outbox.push({ kind: 'closeState', stream });
  }

  installBegin(): void {
    this.#parts.checkpointing.installBegin();
    this.#loader = new TreeLoader();
  }

  installRecords(records: readonly StateRecord[]): string | undefined {
    const loader = this.#loader;
    assert(loader !== undefined, () => 'Records of a snapshot came, but none was begun');
    return decodeFault(() => loader.add(records));
  }

  installCheck(zxid: Zxid): string | undefined {
    const loader = this.#loader;
    assert(loader !== undefined, () => 'A snapshot is to be checked, but none was begun');
    return decodeFault(() => {
      this.#incoming = loader.finish(zxid);
    });
  }

  installEnd(zxid: Zxid): void {
    const { entry, checkpointing, replaceTree } = this.#parts;
    const tree = this.#incoming;
    assert(tree?.lastZxid === zxid, () => `The snapshot at ${formatZxid(zxid)} ended, but was not checked`);
    const before = entry.state.tree.lastZxid;
    assert(zxid >= before, () => `P12: snapshot at ${formatZxid(zxid)}, though ${formatZxid(before)} was applied`);
    this.#loader = undefined;
    this.#incoming = undefined;
    replaceTree(tree);
    entry.treeReplaced(zxid);
    checkpointing.installOver(true);
  }

  installAbort(): void {
    this.#loader = undefined;
    this.#incoming = undefined;
    this.#parts.checkpointing.installOver(false);
  }

  leadershipConfirmed(seq: number): void {
    const { routing, now } = this.#parts;
    routing.confirmed(seq, now());
  }

  voteRightChanged(voteRight: VoteRight, reason: string): void {
    const { outbox } = this.#parts;
    outbox.push({ kind: 'trace', name: 'voteRight', fields: { voteRight, reason } });
    outbox.push({ kind: 'statusChanged' });
  }

  fail(reason: string): void {
    this.#parts.fail(reason);
  }

  trace(name: string, fields: Readonly<Record<string, string | number | bigint | boolean>>): void {
    this.#parts.outbox.push({ kind: 'trace', name, fields });
  }
}

/** What DecodeError says when `use` throws one. */
function decodeFault(use: () => void): string | undefined {
  try {
    use();
    return undefined;
  } catch (cause) {
    if (!(cause instanceof DecodeError)) throw cause;
    return cause.message;
  }
}
