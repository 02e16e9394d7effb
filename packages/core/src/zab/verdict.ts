/** What a phase tells the role that it is a part of: go on, or give this place up and look for a leader again. */
import type { Vote } from './messages.ts';

/** `successor`: who is to lead instead. */
export type Verdict =
  | { readonly kind: 'goOn' }
  | { readonly kind: 'giveUp'; readonly reason: string; readonly successor?: Vote };

export const GO_ON: Verdict = { kind: 'goOn' };

export function giveUp(reason: string): Verdict {
  return { kind: 'giveUp', reason };
}
