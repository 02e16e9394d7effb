/** What the words of four letters are answered, in ZooKeeper's layouts, which tools take apart. Source: reference §11.1 and §11.3. */
import { readdirSync } from 'node:fs';
import { hostname, release, userInfo } from 'node:os';
import type { WatchInspector } from '@quorate/core';
import { formatSessionId, formatZxid, NO_SESSION } from '@quorate/protocol';
import type { ClusterStatus } from '@quorate/protocol/grpc';
import type { ServerConfig } from '../../config/index.ts';
import { VERSION } from '../../version.ts';
import type { CoreAccess } from '../core-access.ts';
import type { QuorumView } from './quorum-view.ts';
import type { ConnectionInfo, Traffic } from './traffic.ts';

/** Clients look at the first three numbers, to know what they may ask for: what ZooKeeper 3.9.5 can do. */
const COMPATIBLE = '3.9.5';

/** Tools take this line apart and want a date there; when it was built a member does not know. */
const NO_DATE = '1970-01-01 00:00 UTC';

/** Most sessions whose ephemerals are shown. */
const DUMP_SESSIONS_MAX = 1_000;

/** Most ephemerals of one of them. */
const DUMP_EPHEMERALS_MAX = 1_000;

/** Most watched paths that are shown. */
const PATHS_MAX = 10_000;

export interface WordSources {
  readonly config: ServerConfig;
  readonly core: CoreAccess;
  readonly traffic: Traffic;
  readonly quorum: QuorumView;
  readonly port: () => number;
  readonly startedMs: number;
}

/** The answer of each word. Called while serving, save for those that are always answered. */
export function wordAnswers(sources: WordSources): Readonly<Record<string, () => string>> {
  const { traffic, quorum } = sources;
  return {
    ruok: () => 'imok',
    isro: () => (quorum.hasLeader ? 'rw' : quorum.isReadOnly ? 'ro' : 'null'),
    srvr: () => serverText(sources, ''),
    stat: () => serverText(sources, `Clients:\n${traffic.connections().map(briefLine).join('')}\n`),
    cons: () => `${traffic.connections().map(fullLine).join('')}\n`,
    conf: () => confText(sources),
    envi: () => environmentText(),
    mntr: () => monitorText(sources),
    dump: () => dumpText(sources),
    wchs: () => watchSummary(sources),
    wchc: () => watchesByConnection(sources),
    wchp: () => watchesByPath(sources),
    crst: () => reset(sources, 'Connection'),
    srst: () => reset(sources, 'Server'),
  };
}

function reset({ traffic }: WordSources, what: 'Connection' | 'Server'): string {
  if (what === 'Connection') traffic.resetConnections();
  else traffic.reset();
  return `${what} stats reset.\n`;
}

function need(core: CoreAccess): ClusterStatus {
  const status = core.status();
  if (status === undefined) throw new Error('A member that serves has a status');
  return status;
}

function modeOf({ role, members }: ClusterStatus): string {
  if (members.length <= 1) return 'standalone';
  return { leading: 'leader', following: 'follower', observing: 'observer', looking: 'read-only' }[role];
}

function versionLine(): string {
  return `${COMPATIBLE}-quorate-${VERSION}, built on ${NO_DATE}`;
}

/** `clients`: what `stat` has more than `srvr`. */
function serverText({ core, traffic, quorum }: WordSources, clients: string): string {
  const status = need(core);
  const { min, average, max } = traffic.latencyMs;
  const lines = [
    `Latency min/avg/max: ${min}/${average}/${max}`,
    `Received: ${traffic.received}`,
    `Sent: ${traffic.sent}`,
    `Connections: ${traffic.count}`,
    `Outstanding: ${status.outstanding}`,
    `Zxid: ${formatZxid(status.zxid)}`,
    `Mode: ${modeOf(status)}`,
    // The root is counted twice there, and so here.
    `Node count: ${status.znodes + 1}`,
  ];
  const readOnly = quorum.isReadOnly ? 'READ-ONLY mode; serving only read-only clients\n' : '';
  return `Zookeeper version: ${versionLine()}\n${readOnly}${clients}${lines.join('\n')}\n`;
}

function briefLine({ peer, queued, received, sent }: ConnectionInfo): string {
  return ` /${peer}[1](queued=${queued},recved=${received},sent=${sent})\n`;
}

function fullLine({ peer, queued, received, sent, session, timeoutMs, sinceMs }: ConnectionInfo): string {
  const own = session === NO_SESSION ? '' : `,sid=${formatSessionId(session)},lop=NA,est=${sinceMs},to=${timeoutMs}`;
  return ` /${peer}[1](queued=${queued},recved=${received},sent=${sent}${own})\n`;
}

function confText({ config, port }: WordSources): string {
  const { timing, serverLimits, dataDir, sid } = config;
  const values = {
    clientPort: port(),
    secureClientPort: -1,
    dataDir,
    dataLogDir: dataDir,
    tickTime: timing.tickMs,
    maxClientCnxns: serverLimits.connectionsPerAddressMax,
    minSessionTimeout: timing.sessionTimeoutMinMs,
    maxSessionTimeout: timing.sessionTimeoutMaxMs,
    clientPortListenBacklog: -1,
    serverId: sid,
  };
  return textOf(values, '=');
}

function environmentText(): string {
  const values = {
    'zookeeper.version': versionLine(),
    'host.name': hostname(),
    'java.version': `none (Node ${process.version})`,
    'os.name': process.platform,
    'os.arch': process.arch,
    'os.version': release(),
    'user.name': userInfo().username,
    'user.dir': process.cwd(),
  };
  return `Environment:\n${textOf(values, '=')}`;
}

function monitorText({ core, traffic, startedMs }: WordSources): string {
  const status = need(core);
  const { min, average, max } = traffic.latencyMs;
  const values: Record<string, string | number> = {
    zk_version: versionLine(),
    zk_server_state: modeOf(status),
    zk_avg_latency: average,
    zk_max_latency: max,
    zk_min_latency: min,
    zk_packets_received: traffic.received,
    zk_packets_sent: traffic.sent,
    zk_num_alive_connections: traffic.count,
    zk_outstanding_requests: status.outstanding,
    zk_uptime: Math.round(performance.now() - startedMs),
    zk_znode_count: status.znodes + 1,
    zk_watch_count: core.watches()?.summary().watches ?? 0,
    zk_ephemerals_count: status.ephemerals,
    zk_approximate_data_size: status.dataBytes,
    zk_global_sessions: status.sessions,
    zk_open_file_descriptor_count: openFiles(),
  };
  if (status.role === 'leading' && status.members.length > 1) {
    values['zk_learners'] = status.learners.length;
    values['zk_synced_followers'] = status.learners.filter(({ synced, votes }) => synced && votes).length;
    values['zk_synced_observers'] = status.learners.filter(({ synced, votes }) => synced && !votes).length;
    values['zk_pending_syncs'] = 0;
  }
  return textOf(values, '\t');
}

/** -1 where it cannot be known. */
function openFiles(): number {
  try {
    return readdirSync('/proc/self/fd').length;
  } catch {
    return -1;
  }
}

function dumpText({ core, traffic }: WordSources): string {
  const sessions = core.sessions()?.page(NO_SESSION, DUMP_SESSIONS_MAX).sessions ?? [];
  const known = sessions.map(({ id, timeoutMs }) => `${formatSessionId(id)}\t${timeoutMs}ms\n`).join('');
  const withEphemerals = sessions.filter(({ ephemeralCount }) => ephemeralCount > 0);
  const owned = withEphemerals
    .map(
      ({ id }) =>
        `${formatSessionId(id)}:\n${(core.sessions()?.ephemeralsOf(id, DUMP_EPHEMERALS_MAX) ?? []).map((path) => `\t${path}\n`).join('')}`,
    )
    .join('');
  const connections = traffic.connections();
  const lines = connections
    .map(({ peer, session }) => `\tip: /${peer} sessionId: ${formatSessionId(session)}\n`)
    .join('');
  return (
    `SessionTracker dump:\nGlobal Sessions(${sessions.length}):\n${known}` +
    `ephemeral nodes dump:\nSessions with Ephemerals (${withEphemerals.length}):\n${owned}` +
    `Connections dump:\nConnections Sets (1)/(${connections.length}):\n${lines}`
  );
}

function watchSummary({ core }: WordSources): string {
  const { connections = 0, paths = 0, watches = 0 } = core.watches()?.summary() ?? {};
  return `${connections} connections watching ${paths} paths\nTotal watches:${watches}\n`;
}

function watchesByPath({ core }: WordSources): string {
  const blocks = watched(core).map(
    ({ path, sessions }) => `${path}\n${sessions.map((id) => `\t${formatSessionId(id)}\n`).join('')}`,
  );
  return `${blocks.join('')}\n`;
}

function watchesByConnection({ core }: WordSources): string {
  const bySession = new Map<bigint, string[]>();
  for (const { path, sessions } of watched(core)) {
    for (const id of sessions) {
      const paths = bySession.get(id);
      if (paths === undefined) bySession.set(id, [path]);
      else paths.push(path);
    }
  }
  const blocks = [...bySession].map(
    ([id, paths]) => `${formatSessionId(id)}\n${paths.map((path) => `\t${path}\n`).join('')}`,
  );
  return `${blocks.join('')}\n`;
}

function watched(core: CoreAccess): ReturnType<WatchInspector['byPath']> {
  return core.watches()?.byPath(PATHS_MAX) ?? [];
}

function textOf(values: Readonly<Record<string, string | number>>, between: string): string {
  return Object.entries(values)
    .map(([name, value]) => `${name}${between}${value}\n`)
    .join('');
}
