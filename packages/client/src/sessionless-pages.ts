/** Pages of a listing without a session: the first from whichever member answers, the others from that one, which alone has them. */
import type { ListingOp } from '@quorate/protocol';
import type { WireZnodeResponse } from '@quorate/protocol/grpc';
import type { ReadOptions } from './api.ts';
import { CoordinationError, isCode } from './errors.ts';
import type { Ask } from './listing.ts';
import { checkTimeout } from './options.ts';
import type { Server } from './servers.ts';
import { callUnary } from './unary.ts';

const METHODS = { listChildren: 'ListChildren', getSubtree: 'GetSubtree' } as const;

/** Asks the servers in their order for the first page. */
export function pagesOf(servers: readonly Server[], options: ReadOptions): Ask {
  let answering: Server | undefined;
  return async (op, isFirst) => {
    const candidates = isFirst || answering === undefined ? servers : [answering];
    const endMs = performance.now() + checkTimeout(options.timeoutMs);
    const about = { service: 'quorate.v1.ZnodeService', method: METHODS[op.kind], what: `list ${op.path}` };
    const request = { ...requestOf(op), linearizable: isFirst && options.consistency === 'linearizable' };
    let last: unknown = new CoordinationError('UNAVAILABLE', `Cannot list ${op.path}: no member is named`);
    for (const [i, member] of candidates.entries()) {
      const left = endMs - performance.now();
      const timeoutMs = Math.max(1, Math.floor(left / (candidates.length - i)));
      try {
        const response = await callUnary<WireZnodeResponse>(member, about, request, { ...options, timeoutMs });
        answering = member;
        const { toListingResult } = await import('@quorate/protocol/grpc');
        return toListingResult(op.kind, response);
      } catch (error) {
        if (!isCode(error, 'CONNECTION_LOST', 'TIMEOUT', 'UNAVAILABLE')) throw error;
        last = error;
      }
    }
    throw last;
  };
}

function requestOf(op: ListingOp): object {
  const { path, withStat, withData, limit, token, isEnd } = op;
  const wish = { path, withStat, withData, limit, end: isEnd, ...(token && { pageToken: token }) };
  if (op.kind === 'listChildren') return { ...wish, after: op.after };
  return op.depth === undefined ? wish : { ...wish, maxDepth: op.depth };
}
