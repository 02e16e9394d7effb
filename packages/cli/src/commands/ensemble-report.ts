/** What a member that `quorate ensemble` has spawned tells its parent over IPC. */
import type { Ports } from '@quorate/server/config';

export type Role = 'looking' | 'following' | 'leading' | 'observing';

export type ChildReport =
  /** It listens. */
  | { readonly kind: 'ports'; readonly ports: Ports }
  /** Its place has changed. */
  | {
      readonly kind: 'status';
      readonly role: Role;
      readonly leader: number | undefined;
      readonly epoch: number;
      /** It answers reads, and writes can be committed. */
      readonly isReady: boolean;
    }
  /** It ends: one line why. */
  | { readonly kind: 'failed'; readonly message: string };

/** Takes what came over IPC as a report; undefined when it is none. */
export function toReport(message: unknown): ChildReport | undefined {
  if (typeof message !== 'object' || message === null || !('kind' in message)) return undefined;
  const { kind } = message;
  return kind === 'ports' || kind === 'status' || kind === 'failed' ? (message as ChildReport) : undefined;
}
