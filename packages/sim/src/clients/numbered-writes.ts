/** The numbered writes of one simulated session: which have no final answer, and what is acknowledged. */
import type { Answer, ErrorCode, Numbered } from '@quorate/protocol';
import { fateOf } from '../calls.ts';
import type { Draw } from './workload.ts';

/** Refusals of one copy that say nothing of another. */
const SAYS_NOTHING: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'UNAVAILABLE',
  'THROTTLED',
  'SERVER_BEHIND',
  'SESSION_MOVED',
  'SESSION_EXPIRED',
]);

export interface NumberedWrite {
  readonly request: number;
  readonly draw: Draw;
  /** A copy is on its way. */
  isUnderWay: boolean;
  /** A copy went out of which nothing was heard. */
  isInDoubt: boolean;
}

export class NumberedWrites {
  /** By rising number. */
  readonly #open = new Map<number, NumberedWrite>();
  #last = 0;

  next(draw: Draw): NumberedWrite {
    this.#last += 1;
    const write = { request: this.#last, draw, isUnderWay: false, isInDoubt: false };
    this.#open.set(this.#last, write);
    return write;
  }

  /** The number as it goes out, with what is acknowledged by then. */
  mark({ request }: NumberedWrite): Numbered {
    const [first = request] = this.#open.keys();
    return { request, acknowledged: Math.min(first, request) - 1 };
  }

  /** Some have no final answer. */
  get hasOpen(): boolean {
    return this.#open.size > 0;
  }

  /** Those to be sent again, in order. */
  get left(): readonly NumberedWrite[] {
    return [...this.#open.values()].filter(({ isUnderWay }) => !isUnderWay);
  }

  /** Nobody wants to know any more what became of it. */
  giveUp({ request }: NumberedWrite): void {
    this.#open.delete(request);
  }

  /** Takes the answer to a copy, or that none came; what leaves open what became of the write leaves it to be sent again. */
  answered(write: NumberedWrite, answer: Answer | undefined): void {
    write.isUnderWay = false;
    const fate = fateOf(answer);
    const code = answer?.result.kind === 'error' ? answer.result.code : undefined;
    if (fate === 'unknown') write.isInDoubt = true;
    const saysNothing = code !== undefined && SAYS_NOTHING.has(code);
    const isSurelyOver = !saysNothing || (!write.isInDoubt && code !== 'SESSION_MOVED');
    if (fate === 'done' || fate === 'refused' || (fate === 'not-done' && isSurelyOver)) this.giveUp(write);
  }
}
