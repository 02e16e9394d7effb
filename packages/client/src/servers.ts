/**
 * Reading the list of members: `host:port,host:port/chroot`, or an array of `host:port`. IPv6 literals stand in
 * brackets. A name is kept as a name: it is resolved anew at every attempt to connect.
 */
import { pathFault } from '@quorate/protocol';

/** Port for gRPC clients when an entry names none. */
export const DEFAULT_PORT = 2281;

/** One member. */
export interface Server {
  /** Name, IPv4 address, or IPv6 address without brackets. */
  readonly host: string;
  readonly port: number;
}

export interface ServerList {
  readonly servers: readonly Server[];
  /** Path below which the client works; undefined when the list names none. */
  readonly chroot: string | undefined;
}

/**
 * Reads `servers` as the user gave it. Blanks around commas and a trailing comma are let pass.
 * Throws TypeError or RangeError that names `servers` and the entry.
 */
export function parseServers(servers: string | readonly string[]): ServerList {
  if (typeof servers !== 'string' && !Array.isArray(servers)) {
    throw new TypeError(`servers must be a string or an array of strings, not ${describe(servers)}`);
  }
  const { list, chroot } = typeof servers === 'string' ? splitChroot(servers) : { list: servers, chroot: undefined };
  const entries = (typeof list === 'string' ? list.split(',') : list).map(trimmed).filter((entry) => entry !== '');
  if (entries.length === 0) throw new TypeError('servers names no member');
  return { servers: entries.map(parseServer), chroot };
}

/** The members that `servers` names, each as `host:port`. Throws like `connect`. */
export function listServers(servers: string | readonly string[]): string[] {
  return parseServers(servers).servers.map(formatServer);
}

/** As users write it: IPv6 in brackets. */
export function formatServer({ host, port }: Server): string {
  return `${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/**
 * Checks a chroot and returns it without a trailing slash; `/` and undefined give ''.
 * Throws TypeError that names the option.
 */
export function parseChroot(chroot: string | undefined): string {
  if (chroot === undefined) return '';
  if (typeof chroot !== 'string') throw new TypeError(`chroot must be a string, not ${describe(chroot)}`);
  const path = chroot.length > 1 && chroot.endsWith('/') ? chroot.slice(0, -1) : chroot;
  const fault = pathFault(path);
  if (fault !== undefined) throw new TypeError(`chroot ${JSON.stringify(chroot)} is not a path: ${fault}`);
  return path === '/' ? '' : path;
}

function splitChroot(text: string): { list: string; chroot: string | undefined } {
  const cut = text.indexOf('/');
  return cut < 0 ? { list: text, chroot: undefined } : { list: text.slice(0, cut), chroot: text.slice(cut).trim() };
}

function trimmed(entry: unknown): string {
  if (typeof entry !== 'string') throw new TypeError(`servers must hold strings, not ${describe(entry)}`);
  return entry.trim();
}

function parseServer(entry: string): Server {
  const match = /^(?:\[([^\]]+)\]|([^:[\]]+))(?::([^:]*))?$/.exec(entry);
  const host = match?.[1] ?? match?.[2];
  if (host === undefined || !isHost(host, match?.[1] !== undefined)) {
    throw new TypeError(`servers has ${JSON.stringify(entry)}, which is not host:port; an IPv6 address needs brackets`);
  }
  const digits = match?.[3];
  if (digits === undefined) return { host, port: DEFAULT_PORT };
  const port = /^\d{1,5}$/.test(digits) ? Number(digits) : 0;
  if (port < 1 || port > 65_535) {
    throw new RangeError(`servers has ${JSON.stringify(entry)}, whose port is outside 1..65535`);
  }
  return { host, port };
}

function isHost(host: string, inBrackets: boolean): boolean {
  return inBrackets ? /^[0-9a-f:.]+(?:%[\w.-]+)?$/i.test(host) && host.includes(':') : /^[\w.-]+$/.test(host);
}

function describe(value: unknown): string {
  return value === null ? 'null' : typeof value;
}
