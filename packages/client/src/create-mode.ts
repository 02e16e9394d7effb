/** How long a znode is to live, as the caller says it, in the words of the protocol. */
import { type CreateMode as ProtocolMode, TTL_MAX_MS } from '@quorate/protocol';
import type { CreateMode } from './api.ts';

/** Throws TypeError for what is no mode, RangeError for a TTL out of range. */
export function checkMode(mode: CreateMode, sequential: boolean): { mode: ProtocolMode; ttlMs?: number } {
  if (mode === 'container' && sequential) throw new TypeError('a container cannot be sequential');
  if (mode === 'persistent' || mode === 'ephemeral' || mode === 'container') return { mode };
  const ttlMs: unknown = typeof mode === 'object' && mode !== null ? (mode as { ttlMs?: unknown }).ttlMs : undefined;
  if (typeof ttlMs !== 'number') {
    throw new TypeError(
      `mode must be 'persistent', 'ephemeral', 'container' or { ttlMs }, not ${JSON.stringify(mode) ?? typeof mode}`,
    );
  }
  if (Number.isInteger(ttlMs) && ttlMs >= 1 && ttlMs <= TTL_MAX_MS) return { mode: 'ttl', ttlMs };
  throw new RangeError(`ttlMs must be an integer from 1 to ${TTL_MAX_MS}, not ${ttlMs}`);
}
