/** The secret that proves whose a session is. Made here and nowhere else; who checks it is the core. */
import { randomBytes } from 'node:crypto';
import { SESSION_TOKEN_BYTES } from '@quorate/protocol';

/** Random, of SESSION_TOKEN_BYTES. ZooKeeper calls it the password of a session. */
export function newToken(): Uint8Array {
  return Uint8Array.from(randomBytes(SESSION_TOKEN_BYTES));
}
