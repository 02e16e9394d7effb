/** What is true of a session, as the user of the client sees it. */

export type SessionState =
  /** No session yet: the first one is being opened, or a new one after the end of another. */
  | { readonly state: 'connecting' }
  /** Attached to a member. */
  | { readonly state: 'connected'; readonly server: string }
  /**
   * Not attached; the session may still be alive in the ensemble. Whoever must be alone in what they do pauses now.
   * At `expiresAtMs` (wall clock, ms since 1970) the client takes the session for ended, by its own clock.
   */
  | { readonly state: 'suspended'; readonly expiresAtMs: number; readonly reason: string }
  /** The session has ended; its ephemerals are gone or about to go. Said once a session. */
  | { readonly state: 'expired' }
  /** The client was closed. The last state. */
  | { readonly state: 'closed' };
