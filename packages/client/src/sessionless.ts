/**
 * Reads without a session: unary calls to one member after another until one answers. They work without a quorum, where no
 * session can be opened, and then show what that member has applied, which may be old. For tools; programs use `connect`.
 */
import type { Stat } from '@quorate/protocol';
import type { WireZnodeResponse } from '@quorate/protocol/grpc';
import type { Client, ReadOptions } from './api.ts';
import { CoordinationError, isCode } from './errors.ts';
import { checkAfter, checkDepth, checkListing, PagedListing } from './listing.ts';
import { checkTimeout } from './options.ts';
import { Chroot } from './paths.ts';
import { parseChroot, parseServers } from './servers.ts';
import { pagesOf } from './sessionless-pages.ts';
import { callUnary } from './unary.ts';
import { makeZnode } from './znode.ts';

/** The reads of a client. */
export type Reader = Pick<Client, 'get' | 'stat' | 'children' | 'list' | 'walk'>;

const SERVICE = 'quorate.v1.ZnodeService';

/** `servers` as for `connect`. Throws TypeError or RangeError when they are not legal. Opens nothing. */
export function sessionlessReader(servers: string | readonly string[]): Reader {
  const list = parseServers(servers);
  const chroot = new Chroot(parseChroot(list.chroot));

  async function read(
    method: string,
    path: string,
    options: ReadOptions = {},
  ): Promise<WireZnodeResponse & { readonly exact: Stat | undefined }> {
    const request = { path: chroot.inward(path), linearizable: options.consistency === 'linearizable' };
    const endMs = performance.now() + checkTimeout(options.timeoutMs);
    const about = { service: SERVICE, method, what: `read ${path}` };
    let last: unknown = new CoordinationError('UNAVAILABLE', `Cannot read ${path}: no member is named`);
    for (const [i, member] of list.servers.entries()) {
      const left = endMs - performance.now();
      const timeoutMs = Math.max(1, Math.floor(left / (list.servers.length - i)));
      try {
        const response = await callUnary<WireZnodeResponse>(member, about, request, { ...options, timeoutMs });
        const { toStat } = await import('@quorate/protocol/grpc');
        const { stat } = response;
        return { ...response, exact: stat === null || stat === undefined ? undefined : toStat(stat) };
      } catch (error) {
        if (!isCode(error, 'CONNECTION_LOST', 'TIMEOUT', 'UNAVAILABLE')) throw error;
        last = error;
      }
    }
    throw last;
  }

  return {
    async get(path, options) {
      const { data, exact } = await read('GetData', path, options);
      if (exact === undefined) throw new CoordinationError('INTERNAL', `The answer for ${path} has no stat`, { path });
      return makeZnode(path, data, exact);
    },
    async stat(path, options) {
      return (await read('Exists', path, options)).exact;
    },
    list(path, options = {}) {
      const wish = { path: chroot.inward(path), ...checkListing(options), after: checkAfter(options.after) };
      return new PagedListing({ kind: 'listChildren', ...wish }, pagesOf(list.servers, options), (at) =>
        chroot.outward(at),
      );
    },
    walk(path, options = {}) {
      const wish = { path: chroot.inward(path), ...checkListing(options), depth: checkDepth(options.depth) };
      return new PagedListing({ kind: 'getSubtree', ...wish }, pagesOf(list.servers, options), (at) =>
        chroot.outward(at),
      );
    },
    async children(path, options) {
      // Names: only pages have more.
      return [...(((await read('GetChildren', path, options)).children ?? []) as readonly string[])];
    },
  };
}
