/**
 * The list of the ensemble's members, as text or as YAML:
 *
 *     sid=host:peerPort[:observer][;clientHost:grpcPort], ...
 *     - { sid: 1, peer: "zk1:2381", observer: false, client: "zk1:2281" }
 *
 * Every member is given the same list; an address learned in a message is never preferred to it (C105).
 */
import { SID_MAX, SID_MIN, type Sid } from '@quorate/protocol';
import { formatHostPort, type HostPort, isWildcard, parseHostPort } from './address.ts';
import { nearest } from './suggest.ts';

/** One member, as all others reach it. */
export interface MemberAddress {
  readonly sid: Sid;
  /** Where the other members dial it. */
  readonly peer: HostPort;
  /** Learns and serves, but its votes and acks do not count. */
  readonly observer: boolean;
  /** Where clients dial it, told by ClusterService.Status; undefined when the configuration does not say. */
  readonly client: HostPort | undefined;
}

/** Most members an ensemble may have. Past it the configuration is refused: every write waits for a majority of them. */
export const MEMBERS_MAX = 32;

/** The grammar, for error lines. */
export const MEMBERS_ALLOWED =
  'a list of sid=host:peerPort[:observer][;clientHost:grpcPort], with commas or blanks between';

/** Why a list was not taken. */
export interface Fault {
  readonly fault: string;
}

/** Parses text or a YAML list. The order is kept; each sid and each peer address may occur once. */
export function parseMembers(raw: unknown): readonly MemberAddress[] | Fault {
  const items = typeof raw === 'string' ? raw.split(/[\s,]+/).filter((item) => item !== '') : raw;
  if (!Array.isArray(items)) return { fault: 'it is not a list' };
  if (items.length > MEMBERS_MAX) return { fault: `it has ${items.length} members, more than ${MEMBERS_MAX}` };
  const members: MemberAddress[] = [];
  for (const item of items) {
    const member = typeof item === 'string' ? parseMember(item) : parseMemberObject(item);
    if ('fault' in member) return member;
    const fault = clash(members, member);
    if (fault !== undefined) return { fault };
    members.push(member);
  }
  if (members.length > 0 && members.every((member) => member.observer)) return { fault: 'it has observers only' };
  return members;
}

/** As `parseMembers` reads it. */
export function formatMembers(members: readonly MemberAddress[]): string {
  return members
    .map(({ sid, peer, observer, client }) => {
      const voter = `${sid}=${formatHostPort(peer.host, peer.port)}${observer ? ':observer' : ''}`;
      return client === undefined ? voter : `${voter};${formatHostPort(client.host, client.port)}`;
    })
    .join(',');
}

function parseMember(text: string): MemberAddress | Fault {
  const [server = '', client, ...more] = text.split(';');
  const match = /^(\d+)=(.+?)(:observer)?$/.exec(server);
  if (match === null || more.length > 0) return { fault: `"${text}" is not a member` };
  return build(Number(match[1]), match[2], match[3] !== undefined, client);
}

const MEMBER_FIELDS = ['sid', 'peer', 'observer', 'client'];

function parseMemberObject(item: unknown): MemberAddress | Fault {
  if (typeof item !== 'object' || item === null) return { fault: `${JSON.stringify(item)} is not a member` };
  const fields = new Map<string, unknown>(Object.entries(item));
  for (const name of fields.keys()) {
    if (MEMBER_FIELDS.includes(name)) continue;
    const near = nearest(name, MEMBER_FIELDS);
    return {
      fault: `a member has the unknown field "${name}"${near === undefined ? '' : ` (did you mean "${near}"?)`}`,
    };
  }
  const observer = fields.get('observer') ?? false;
  if (typeof observer !== 'boolean') return { fault: `observer ${JSON.stringify(observer)} is not true or false` };
  return build(fields.get('sid'), fields.get('peer'), observer, fields.get('client'));
}

function build(sid: unknown, peerText: unknown, observer: boolean, clientText: unknown): MemberAddress | Fault {
  if (typeof sid !== 'number' || !Number.isInteger(sid) || sid < SID_MIN || sid > SID_MAX) {
    return { fault: `sid ${JSON.stringify(sid)} is not in ${SID_MIN}..${SID_MAX}` };
  }
  const peer = addressOf(peerText);
  if (peer === undefined) return { fault: `${JSON.stringify(peerText)} of sid ${sid} is not host:port` };
  const client = clientText === undefined ? undefined : addressOf(clientText);
  if (clientText !== undefined && client === undefined) {
    return { fault: `${JSON.stringify(clientText)} of sid ${sid} is not host:port` };
  }
  for (const address of [peer, client]) {
    if (address !== undefined && isWildcard(address.host)) {
      return {
        fault: `sid ${sid} has the address ${address.host}, which others cannot dial; give its own name here and the wildcard to bind`,
      };
    }
  }
  return { sid, peer, observer, client };
}

function addressOf(text: unknown): HostPort | undefined {
  return typeof text === 'string' ? parseHostPort(text) : undefined;
}

function clash(members: readonly MemberAddress[], added: MemberAddress): string | undefined {
  for (const member of members) {
    if (member.sid === added.sid) return `sid ${added.sid} occurs twice`;
    if (member.peer.host === added.peer.host && member.peer.port === added.peer.port) {
      return `sid ${member.sid} and sid ${added.sid} have the same address ${formatHostPort(added.peer.host, added.peer.port)}`;
    }
  }
  return undefined;
}
