/**
 * The configuration of one member, complete and checked: what the keys mean together. Whoever holds a ServerConfig need
 * not check again. Errors are single lines (ConfigError).
 */
import { DEFAULT_LIMITS, type Limits, type Timing } from '@quorate/core';
import type { Sid } from '@quorate/protocol';
import { formatHostPort, type HostPort, isLoopback, isWildcard } from './address.ts';
import { ConfigError } from './config-error.ts';
import type { KeyName, KeyValue, KeyValues } from './key-table.ts';
import { KEYS } from './key-table.ts';
import { formatMembers, type MemberAddress } from './members.ts';
import { type Gathered, gather, type Sources } from './sources.ts';

export type LogLevel = KeyValue<'logLevel'>;

/** Ports of one member. 0 asks for a free one; `Member.endpoints` then has the real one. */
export interface Ports {
  /** Reserved: nothing listens there yet. */
  readonly zookeeper: number;
  readonly grpc: number;
  readonly peer: number;
  readonly admin: number;
}

export interface ServerLimits {
  /** Bytes waiting for one member; past it its link is closed. */
  readonly peerQueueBytesMax: number;
  /** 0 is no limit. */
  readonly connectionsMax: number;
  /** 0 is no limit. */
  readonly connectionsPerAddressMax: number;
  readonly streamCallsMax: number;
}

export interface ZooKeeperConfig {
  /** Words of four letters that are answered; `*` among them stands for all. */
  readonly words: readonly string[];
  /** Passwords by user, for SASL. Secrets. */
  readonly saslUsers: ReadonlyMap<string, string>;
}

export interface ServerConfig {
  readonly dataDir: string;
  readonly clusterId: string;
  /** `user:hash`; undefined: nobody passes every ACL. A secret. */
  readonly superDigest: string | undefined;
  /** What is particular to ZooKeeper's clients. */
  readonly zooKeeper: ZooKeeperConfig;
  readonly sid: Sid;
  /** All members, this one too; empty when standalone. */
  readonly members: readonly MemberAddress[];
  readonly bind: string;
  readonly adminBind: string;
  /** Host by which clients reach this member. */
  readonly advertisedHost: string;
  readonly ports: Ports;
  readonly bootstrap: boolean;
  readonly timing: Timing;
  readonly limits: Limits;
  readonly serverLimits: ServerLimits;
  /** 0 never warns. */
  readonly diskFreeWarnBytes: number;
  readonly stopGraceMs: number;
  readonly logLevel: LogLevel;
}

/** Gathers, checks and completes a configuration. Throws ConfigError. */
export function resolveConfig(sources: Sources): ServerConfig {
  return complete(gather(sources));
}

/** The configuration that `values` give, with the table's defaults for the rest: for embedding and tests. */
export function configOf(values: Partial<{ readonly [N in KeyName]: KeyValue<N> }>): ServerConfig {
  const { ensemble, ...rest } = values;
  const flags = ensemble === undefined ? rest : { ...rest, ensemble: formatMembers(ensemble) };
  return complete(gather({ flags, environment: {}, file: undefined }));
}

/** Every key with its value in force and its origin, for people: `key: value  # origin`. */
export function describeConfig(sources: Sources): string {
  const { values, origins } = gather(sources);
  const lines = Object.entries(values).map(([name, value]) => {
    const plain = Array.isArray(value) ? JSON.stringify(formatMembers(value)) : JSON.stringify(value);
    const shown = KEYS[name as KeyName].isSecret && value !== '' ? '"***"' : plain;
    return value === undefined
      ? `# ${name}: ${KEYS[name as KeyName].defaultText}`
      : `${name}: ${shown} # ${origins[name as KeyName]}`;
  });
  return `${lines.join('\n')}\n`;
}

function complete(gathered: Gathered): ServerConfig {
  const { values } = gathered;
  const members = need(values.ensemble, 'ensemble');
  const sid = values.sid ?? (members.length === 0 ? 1 : undefined);
  if (sid === undefined)
    throw new ConfigError('No sid is given: set sid to the id of this member in the ensemble list');
  const own = members.find((member) => member.sid === sid);
  if (members.length > 0 && own === undefined) {
    throw new ConfigError(
      `Bad sid ${sid} (from ${gathered.origins.sid}): the ensemble list has only ${members.map((member) => member.sid).join(', ')}`,
    );
  }
  const bind = values.bind ?? (members.length === 0 ? '127.0.0.1' : '0.0.0.0');
  refuseUnreachableBind(bind, own, gathered);
  const addresses = resolveAddresses(values, own, bind);
  refuseClashingPorts(addresses.ports);
  return {
    dataDir: need(values.dataDir, 'dataDir'),
    clusterId: need(values.clusterId, 'clusterId'),
    superDigest: values.superDigest === '' ? undefined : values.superDigest,
    zooKeeper: { words: listOf(values.fourLetterWords), saslUsers: usersOf(values.saslUsers) },
    sid,
    members,
    bind,
    ...addresses,
    bootstrap: need(values.bootstrap, 'bootstrap'),
    timing: resolveTiming(gathered),
    limits: resolveLimits(gathered),
    serverLimits: {
      peerQueueBytesMax: need(values.peerQueueBytesMax, 'peerQueueBytesMax'),
      connectionsMax: need(values.connectionsMax, 'connectionsMax'),
      connectionsPerAddressMax: need(values.connectionsPerAddressMax, 'connectionsPerAddressMax'),
      streamCallsMax: need(values.streamCallsMax, 'streamCallsMax'),
    },
    diskFreeWarnBytes: need(values.diskFreeWarnBytes, 'diskFreeWarnBytes'),
    stopGraceMs: need(values.stopGraceMs, 'stopGraceMs'),
    logLevel: need(values.logLevel, 'logLevel'),
  };
}

function listOf(value: string | undefined): readonly string[] {
  return (value ?? '').split(',').filter((one) => one !== '');
}

function usersOf(value: string | undefined): ReadonlyMap<string, string> {
  return new Map(listOf(value).map((one) => [one.slice(0, one.indexOf(':')), one.slice(one.indexOf(':') + 1)]));
}

function resolveAddresses(
  values: KeyValues,
  own: MemberAddress | undefined,
  bind: string,
): Pick<ServerConfig, 'adminBind' | 'advertisedHost' | 'ports'> {
  const told: HostPort | undefined = own?.client;
  const advertisedHost =
    values.advertisedHost ?? told?.host ?? own?.peer.host ?? (isWildcard(bind) ? 'localhost' : bind);
  if (isWildcard(advertisedHost)) {
    throw new ConfigError(
      `Bad advertisedHost ${advertisedHost}: clients cannot dial it; give a name or address of this machine, and the wildcard to bind`,
    );
  }
  return {
    adminBind: need(values.adminBind, 'adminBind'),
    advertisedHost,
    ports: {
      zookeeper: need(values.zookeeperPort, 'zookeeperPort'),
      grpc: need(values.grpcPort, 'grpcPort'),
      peer: values.peerPort ?? own?.peer.port ?? 2381,
      admin: need(values.adminPort, 'adminPort'),
    },
  };
}

/** A member of an ensemble on several machines that listens on loopback only would look healthy and never be reached. */
function refuseUnreachableBind(bind: string, own: MemberAddress | undefined, { origins }: Gathered): void {
  if (own === undefined || !isLoopback(bind) || isLoopback(own.peer.host)) return;
  throw new ConfigError(
    `Bad bind ${bind} (from ${origins.bind}): the other members dial ${formatHostPort(own.peer.host, own.peer.port)}, ` +
      'which is not loopback; bind to 0.0.0.0 or to that address',
  );
}

function refuseClashingPorts(ports: Ports): void {
  const taken = new Map<number, string>();
  for (const [name, port] of Object.entries(ports) as [string, number][]) {
    const other = taken.get(port);
    if (port !== 0 && other !== undefined) {
      throw new ConfigError(`Bad ${name}Port ${port}: ${other}Port is the same; give each its own`);
    }
    taken.set(port, name);
  }
}

function resolveTiming({ values, origins }: Gathered): Timing {
  const tickMs = need(values.tickMs, 'tickMs');
  const min = values.sessionTimeoutMinMs ?? 2 * tickMs;
  const max = values.sessionTimeoutMaxMs ?? 20 * tickMs;
  if (min > max) {
    const origin = values.sessionTimeoutMinMs === undefined ? origins.sessionTimeoutMaxMs : origins.sessionTimeoutMinMs;
    throw new ConfigError(
      `Bad sessionTimeoutMinMs ${min} (from ${origin}): it is greater than sessionTimeoutMaxMs ${max}; raise the one or lower the other`,
    );
  }
  const heartbeatMs = need(values.heartbeatMs, 'heartbeatMs');
  const syncTimeoutMs = need(values.syncTimeoutMs, 'syncTimeoutMs');
  if (heartbeatMs * 2 > syncTimeoutMs) {
    throw new ConfigError(
      `Bad heartbeatMs ${heartbeatMs} (from ${origins.heartbeatMs}): it is more than half of syncTimeoutMs ${syncTimeoutMs}, so that one late ping would end a leadership`,
    );
  }
  return {
    tickMs,
    sessionTimeoutMinMs: min,
    sessionTimeoutMaxMs: max,
    heartbeatMs,
    syncTimeoutMs,
    initTimeoutMs: need(values.initTimeoutMs, 'initTimeoutMs'),
    electionRetryMs: need(values.electionRetryMs, 'electionRetryMs'),
    electionSettleMs: need(values.electionSettleMs, 'electionSettleMs'),
    staleReadMaxMs: need(values.staleReadMaxMs, 'staleReadMaxMs'),
    diskStallMs: need(values.diskStallMs, 'diskStallMs'),
    reapIntervalMs: need(values.reapIntervalMs, 'reapIntervalMs'),
    containerUnusedMs: need(values.containerUnusedMs, 'containerUnusedMs'),
    watchProgressMs: need(values.watchProgressMs, 'watchProgressMs'),
    watchStallMs: need(values.watchStallMs, 'watchStallMs'),
  };
}

function resolveLimits({ values, origins }: Gathered): Limits {
  const queue = need(values.peerQueueBytesMax, 'peerQueueBytesMax');
  const outstanding = need(values.outstandingBytesMax, 'outstandingBytesMax');
  if (outstanding > queue) {
    throw new ConfigError(
      `Bad outstandingBytesMax ${outstanding} (from ${origins.outstandingBytesMax}): it is more than peerQueueBytesMax ${queue}, so that what goes to a new leader would close the link to it again and again; raise that too`,
    );
  }
  return {
    outstandingMax: need(values.outstandingMax, 'outstandingMax'),
    outstandingBytesMax: need(values.outstandingBytesMax, 'outstandingBytesMax'),
    historyBytesMax: need(values.historyBytesMax, 'historyBytesMax'),
    syncMessageBytes: DEFAULT_LIMITS.syncMessageBytes,
    checkpointBytes: need(values.checkpointBytes, 'checkpointBytes'),
    checkpointTxns: need(values.checkpointTxns, 'checkpointTxns'),
    reapPerMinuteMax: need(values.reapPerMinuteMax, 'reapPerMinuteMax'),
    epochTxnsMax: need(values.epochTxnsMax, 'epochTxnsMax'),
    watchBytesMax: need(values.watchBytesMax, 'watchBytesMax'),
    listingsMax: need(values.listingsMax, 'listingsMax'),
    listingBytesMax: need(values.listingBytesMax, 'listingBytesMax'),
    resumableWatchesMax: need(values.resumableWatchesMax, 'resumableWatchesMax'),
    connectionWatchBytesMax: need(values.connectionWatchBytesMax, 'connectionWatchBytesMax'),
  };
}

function need<T>(value: T | undefined, key: KeyName): T {
  if (value === undefined) throw new ConfigError(`No ${key} is given; must be ${KEYS[key].allowed}`);
  return value;
}
