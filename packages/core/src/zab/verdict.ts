/** What a phase tells the role that it is a part of: go on, or give this place up and look for a leader again. */
export type Verdict = { readonly kind: 'goOn' } | { readonly kind: 'giveUp'; readonly reason: string };

export const GO_ON: Verdict = { kind: 'goOn' };

export function giveUp(reason: string): Verdict {
  return { kind: 'giveUp', reason };
}
