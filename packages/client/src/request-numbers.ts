/**
 * The numbers of the session's writes: each gets one when it is first sent, and keeps it however often it is sent again, so that the
 * ensemble carries it out once. Knows which results are not acknowledged yet, and holds writes back that would go past the
 * ensemble's bounds.
 */
import { UNACKNOWLEDGED_BYTES_MAX, UNACKNOWLEDGED_MAX } from '@quorate/protocol';

/** What is numbered. */
export interface NumberedCall {
  /** 0 until it is numbered, and for a read. */
  request: number;
  /** Bytes of path and data. */
  readonly bytes: number;
  /** What it may read, bytes: of a transaction. */
  readonly readBytes: number;
  readonly path: string | undefined;
}

/** Bytes of a result beside its paths, from above. A refusal has the path twice, each character of up to three bytes. */
const FIXED_COST = 256;
const PATH_COST = 6;

export class RequestNumbers {
  /** Numbered and without a final answer, by rising number. */
  readonly #open = new Set<NumberedCall>();
  #bytes = 0;
  #next = 1;

  /** All up to this number are answered, or not waited for any more. */
  get acknowledged(): number {
    for (const first of this.#open) return first.request - 1;
    return this.#next - 1;
  }

  /** False while a new write has to wait for the answers to others. */
  hasRoomFor(call: NumberedCall): boolean {
    if (call.request > 0 || this.#open.size === 0) return true;
    return (
      this.#next - this.acknowledged <= UNACKNOWLEDGED_MAX && this.#bytes + costOf(call) <= UNACKNOWLEDGED_BYTES_MAX
    );
  }

  /** Gives the call its number, unless it has one. */
  assign(call: NumberedCall): void {
    if (call.request > 0) return;
    call.request = this.#next++;
    this.#open.add(call);
    this.#bytes += costOf(call);
  }

  /** Its fate is known, or nobody wants to know it any more. */
  settled(call: NumberedCall): void {
    if (this.#open.delete(call)) this.#bytes -= costOf(call);
  }

  /** The session is over; the next one begins at 1. */
  reset(): void {
    this.#open.clear();
    this.#bytes = 0;
    this.#next = 1;
  }
}

function costOf({ path, bytes, readBytes }: NumberedCall): number {
  return FIXED_COST + readBytes + (path === undefined ? bytes : PATH_COST * path.length);
}
