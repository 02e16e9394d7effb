/**
 * Host and port as people write them (`zk1:2381`, `10.0.0.1:2381`, `[::1]:2381`), and which hosts stand for every
 * interface or only this machine. Knows no names: nothing is resolved here.
 */
import { BlockList, isIP } from 'node:net';

export interface HostPort {
  readonly host: string;
  readonly port: number;
}

export const PORT_MAX = 65_535;

/** Parses `host:port`; undefined when it is not one. An IPv6 address needs brackets. Port 0 is not an address. */
export function parseHostPort(text: string): HostPort | undefined {
  const match = /^(?:\[([^\]]+)\]|([^\s[\]:,;]+)):(\d{1,5})$/.exec(text);
  if (match === null) return undefined;
  const port = Number(match[3]);
  if (port < 1 || port > PORT_MAX) return undefined;
  const bracketed = match[1];
  if (bracketed !== undefined) return isIP(bracketed) === 6 ? { host: bracketed, port } : undefined;
  const host = match[2] ?? '';
  return isHost(host) ? { host, port } : undefined;
}

/** True for an IP address or a legal DNS name (underscores too: container networks have them). */
export function isHost(host: string): boolean {
  if (isIP(host) !== 0) return true;
  if (/^[\d.]+$/.test(host)) return false; // A mistyped IPv4 address rather than a name.
  return (
    host.length <= 253 &&
    /^[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?(\.[A-Za-z0-9_]([A-Za-z0-9_-]*[A-Za-z0-9_])?)*\.?$/.test(host)
  );
}

/** `host:port`, with brackets where the host needs them. */
export function formatHostPort(host: string, port: number): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/** True for the addresses that mean "every interface": good to bind, useless to tell others (C105). */
export function isWildcard(host: string): boolean {
  return host === '0.0.0.0' || host === '::' || /^[0:]+$/.test(host);
}

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

/** True for hosts that only reach this machine. */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host === 'localhost' || host.endsWith('.localhost');
  return LOOPBACK.check(host, family === 6 ? 'ipv6' : 'ipv4');
}
