/** What one step asks of the driver, gathered in order; and the tickets of disk work, which rise over all steps. */
import type { StorageCommand } from '../zab/host.ts';
import type { PeerAction } from './actions.ts';

export class Outbox {
  #actions: PeerAction[] = [];
  #lastTicket = 0;

  push(action: PeerAction): void {
    this.#actions.push(action);
  }

  /** Hands work to the disk's ordered lane and returns its ticket. */
  persist(command: StorageCommand): number {
    const ticket = ++this.#lastTicket;
    this.#actions.push({ kind: 'persist', ticket, command });
    return ticket;
  }

  /** Everything gathered since the last call. */
  take(): readonly PeerAction[] {
    const actions = this.#actions;
    this.#actions = [];
    return actions;
  }
}
