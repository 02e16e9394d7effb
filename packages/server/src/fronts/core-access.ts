/** What a front needs of the member behind it. */
import type { PeerEvent, SessionInspector, Timing, WatchInspector } from '@quorate/core';
import {
  type Answer,
  CALL_TIMEOUT_DEFAULT_MS,
  CALL_TIMEOUT_MAX_MS,
  type Identity,
  type Sid,
  type Zxid,
} from '@quorate/protocol';
import type { Credential } from '@quorate/protocol/frames';
import type { ClusterStatus } from '@quorate/protocol/grpc';
import type { Calls } from '../calls.ts';
import type { Attachment } from '../driver.ts';
import type { FeedReaders } from '../feed-readers.ts';
import type { Log } from '../logging.ts';

export interface CoreAccess {
  readonly sid: Sid;
  readonly log: Log;
  readonly calls: Calls;
  readonly feeds: FeedReaders;
  /** Calls of one stream that are not answered; past it the stream is not read from. */
  readonly streamCallsMax: number;
  /** What a connection of that peer with these credentials is taken for. Throws CredentialError. */
  identitiesOf(peer: string, credentials: readonly Credential[]): readonly Identity[];
  /** What digest credentials (user:password, whatever they look like) prove. Throws CredentialError. */
  digestIdentities(userAndPassword: string): readonly Identity[];
  /** Bounds of what sessions are granted. */
  readonly timing: Pick<Timing, 'sessionTimeoutMinMs' | 'sessionTimeoutMaxMs'>;
  /** Passwords by user, for SASL. Secrets. */
  readonly saslUsers: ReadonlyMap<string, string>;
  /** Why calls cannot be taken at all (starting, stopping), or undefined. */
  refusal(): string | undefined;
  post(event: PeerEvent): void;
  attach(attachment: Attachment): number;
  detach(number: number): void;
  /** Asks for `flush` at the end of this turn. */
  answered(attachment: Attachment): void;
  /** Position up to which this member has applied. */
  appliedZxid(): Zxid;
  /** Undefined while the member recovers. */
  status(): ClusterStatus | undefined;
  /** Undefined before the member has a core. */
  sessions(): SessionInspector | undefined;
  /** Undefined before the member has a core. */
  watches(): WatchInspector | undefined;
}

/** Monotonic deadline of a call that has `timeoutMs` left; 0 or less takes the default. */
export function deadlineAfter(timeoutMs: number): number {
  const left = timeoutMs > 0 ? Math.min(timeoutMs, CALL_TIMEOUT_MAX_MS) : CALL_TIMEOUT_DEFAULT_MS;
  return performance.now() + left;
}

/** The answer of a member that takes no calls. */
export function unavailable(zxid: Zxid, reason: string): Answer {
  return { zxid, result: { kind: 'error', code: 'UNAVAILABLE', path: undefined, message: reason } };
}
