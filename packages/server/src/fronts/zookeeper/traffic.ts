/** Counts what goes over the ZooKeeper port, for the words that ask. Nobody's way depends on it. */
import type { SessionId } from '@quorate/protocol';

/** One connection, as it stands. */
export interface ConnectionInfo {
  readonly peer: string;
  /** Requests without a reply. */
  readonly queued: number;
  readonly received: number;
  readonly sent: number;
  /** NO_SESSION before there is one. */
  readonly session: SessionId;
  readonly timeoutMs: number;
  /** Wall clock at the connect, ms. */
  readonly sinceMs: number;
}

/** What is asked for what it knows. */
export interface Counted {
  info(): ConnectionInfo;
  resetCounts(): void;
  /** Called several times a second. */
  look(): void;
}

export class Traffic {
  readonly #connections = new Set<Counted>();
  received = 0;
  sent = 0;
  #answered = 0;
  #sumMs = 0;
  #minMs = Number.POSITIVE_INFINITY;
  #maxMs = 0;

  get count(): number {
    return this.#connections.size;
  }

  /** Of requests, from their coming to their reply, ms. */
  get latencyMs(): { readonly min: number; readonly average: number; readonly max: number } {
    if (this.#answered === 0) return { min: 0, average: 0, max: 0 };
    const average = Math.round((this.#sumMs / this.#answered) * 10_000) / 10_000;
    return { min: Math.floor(this.#minMs), average, max: Math.floor(this.#maxMs) };
  }

  opened(connection: Counted): void {
    this.#connections.add(connection);
  }

  closed(connection: Counted): void {
    this.#connections.delete(connection);
  }

  /** A request was answered after so long. */
  answered(ms: number): void {
    this.sent++;
    this.#answered++;
    this.#sumMs += ms;
    if (ms < this.#minMs) this.#minMs = ms;
    if (ms > this.#maxMs) this.#maxMs = ms;
  }

  connections(): readonly ConnectionInfo[] {
    return [...this.#connections].map((one) => one.info());
  }

  look(): void {
    for (const one of this.#connections) one.look();
  }

  resetConnections(): void {
    for (const one of this.#connections) one.resetCounts();
  }

  reset(): void {
    this.received = 0;
    this.sent = 0;
    this.#answered = 0;
    this.#sumMs = 0;
    this.#minMs = Number.POSITIVE_INFINITY;
    this.#maxMs = 0;
  }
}
