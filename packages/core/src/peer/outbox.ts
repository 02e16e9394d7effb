/** What one step asks of the driver, gathered in order; and the tickets of disk work, which rise over all steps. */
import type { StorageCommand } from '../zab/host.ts';
import type { PeerAction } from './actions.ts';

const DISK_WORK: ReadonlySet<PeerAction['kind']> = new Set([
  'persist',
  'checkpointPut',
  'checkpointCommit',
  'checkpointAbort',
  'openState',
  'sendState',
  'closeState',
]);

export class Outbox {
  #actions: PeerAction[] = [];
  #lastTicket = 0;
  #hasDisk = true;

  /** The disk has failed: from now on what would be work for it is dropped, and its tickets never come back. */
  diskFailed(): void {
    this.#hasDisk = false;
  }

  push(action: PeerAction): void {
    if (this.#hasDisk || !DISK_WORK.has(action.kind)) this.#actions.push(action);
  }

  /** The ticket that was given last; 0 before the first. */
  get lastTicket(): number {
    return this.#lastTicket;
  }

  /** Hands work to the disk's ordered lane and returns its ticket. */
  persist(command: StorageCommand): number {
    const ticket = ++this.#lastTicket;
    this.push({ kind: 'persist', ticket, command });
    return ticket;
  }

  /** Everything gathered since the last call. */
  take(): readonly PeerAction[] {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }
}
