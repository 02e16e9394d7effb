/** What a phase tells the role that it is a part of: go on, or give this place up and look for a leader again. */
import type { Vote } from './messages.ts';

export type Verdict =
  | { readonly kind: 'goOn' }
  | {
      readonly kind: 'giveUp';
      readonly reason: string;
      /** Who is to lead instead. */
      readonly successor?: Vote;
      /** A message that does not fit: the other side, or this one, does not keep to the protocol. */
      readonly isFault?: true;
    };

export const GO_ON: Verdict = { kind: 'goOn' };

export function giveUp(reason: string): Verdict {
  return { kind: 'giveUp', reason };
}

/** The other side has sent what does not fit. */
export function fault(reason: string): Verdict {
  return { kind: 'giveUp', reason, isFault: true };
}
