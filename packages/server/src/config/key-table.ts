/**
 * The one table of what can be configured. Flags, environment names, file keys, defaults, ranges and help text all come
 * from it. What the values mean together is checked in `server-config.ts`.
 */
import { DEFAULT_LIMITS, DEFAULT_TIMING } from '@quorate/core';
import { SID_MAX, SID_MIN } from '@quorate/protocol';
import { isHost, PORT_MAX } from './address.ts';
import { choice, integer, type Key, members, text, toggle } from './key.ts';

const DAY_MS = 86_400_000;
const GIB = 1024 ** 3;
const MIB = 1024 ** 2;

const host = { allowed: 'an IP address or a host name', accepts: isHost };
const port = { min: 0, max: PORT_MAX };

function timing(key: keyof typeof DEFAULT_TIMING, help: string, min: number): Key<number> {
  return integer({ group: 'Timing', help, default: DEFAULT_TIMING[key], min, max: DAY_MS });
}

function limit(key: keyof typeof DEFAULT_LIMITS, help: string, min: number, max: number): Key<number> {
  return integer({ group: 'Limits', help, default: DEFAULT_LIMITS[key], min, max });
}

/** Every key, by its name in a file. */
export const KEYS = {
  dataDir: text({
    group: 'Identity',
    help: 'Folder of this member: log, state and identity; made when it does not exist',
    allowed: 'a path',
    accepts: (value) => value.trim() !== '' && !value.includes('\0'),
    default: './quorate-data',
  }),
  superDigest: text({
    group: 'Identity',
    help: 'Whoever proves user:password with this hash passes every ACL: user:hash, the Base64 of the SHA-1 of user:password',
    allowed: 'user:hash, or nothing for nobody',
    accepts: (value) => value === '' || /^[^:]+:[A-Za-z0-9+/]{27}=$/.test(value),
    default: '',
    defaultText: 'nobody',
    isSecret: true,
  }),
  clusterId: text({
    group: 'Identity',
    help: 'Name of the ensemble, the same at all members; members and data folders of another one are refused',
    allowed: '1 to 64 letters, digits, points, dashes or underscores',
    accepts: (value) => /^[A-Za-z0-9._-]{1,64}$/.test(value),
    default: 'quorate',
  }),
  sid: integer({
    group: 'Identity',
    help: 'Id of this member, different for each',
    min: SID_MIN,
    max: SID_MAX,
    defaultText: '1 when standalone, else none',
  }),
  ensemble: members({
    group: 'Identity',
    help: 'All members: sid=host:peerPort[:observer][;clientHost:grpcPort], the same list at each; standalone without it',
    default: [],
    defaultText: 'none (standalone)',
  }),
  bind: text({
    group: 'Addresses',
    help: 'Address to listen on for clients and peers; separate from the addresses told to others',
    ...host,
    defaultText: '0.0.0.0 in an ensemble, 127.0.0.1 when standalone',
  }),
  advertisedHost: text({
    group: 'Addresses',
    help: 'Name by which clients reach this member, when the ensemble list does not give one',
    ...host,
    defaultText: 'the host in the ensemble list, else bind',
  }),
  zookeeperPort: integer({
    group: 'Addresses',
    help: 'Port for ZooKeeper clients; 0 takes a free one',
    default: 2181,
    ...port,
  }),
  grpcPort: integer({ group: 'Addresses', help: 'Port for gRPC clients; 0 takes a free one', default: 2281, ...port }),
  peerPort: integer({
    group: 'Addresses',
    help: 'Port for the other members',
    ...port,
    defaultText: 'the port in the ensemble list, else 2381',
  }),
  adminPort: integer({
    group: 'Addresses',
    help: 'Port for admin HTTP: /livez, /readyz, /status; 0 takes a free one',
    default: 2481,
    ...port,
  }),
  adminBind: text({
    group: 'Addresses',
    help: 'Address to listen on for admin HTTP, which asks for no password',
    ...host,
    default: '127.0.0.1',
  }),
  tickMs: timing('tickMs', 'Unit of session timeouts and width of an expiry bucket', 10),
  sessionTimeoutMinMs: integer({
    group: 'Timing',
    help: 'Shortest session timeout handed out; a shorter wish is raised to it',
    defaultText: '2 ticks',
    min: 20,
    max: DAY_MS,
  }),
  sessionTimeoutMaxMs: integer({
    group: 'Timing',
    help: 'Longest session timeout handed out; a longer wish is cut to it',
    defaultText: '20 ticks',
    min: 20,
    max: DAY_MS,
  }),
  heartbeatMs: timing('heartbeatMs', 'Leader pings learners this often', 100),
  syncTimeoutMs: timing('syncTimeoutMs', 'Silence after which a learner and its leader give each other up', 50),
  initTimeoutMs: timing('initTimeoutMs', 'Longest time for discovery and synchronization without progress', 100),
  electionRetryMs: timing('electionRetryMs', 'While looking for a leader: votes are sent again this often', 10),
  electionSettleMs: timing('electionSettleMs', 'While looking, a quorum agreed: wait this long for a better vote', 0),
  staleReadMaxMs: timing('staleReadMaxMs', 'Longest time that a member without a leader serves reads', 0),
  diskStallMs: timing('diskStallMs', 'A disk that finishes nothing for this long counts as failed', 1_000),
  reapIntervalMs: timing('reapIntervalMs', 'How often containers and znodes with a TTL are looked through', 50),
  containerUnusedMs: timing('containerUnusedMs', 'Age at which a container that never had a child goes; 0: never', 0),
  watchProgressMs: timing('watchProgressMs', 'A watch that has nothing to tell says so this often', 10),
  watchStallMs: timing('watchStallMs', 'A watch whose reader takes nothing for this long is dropped', 10),
  outstandingMax: limit('outstandingMax', 'Writes of this member not yet answered; past it THROTTLED', 1, 10_000_000),
  outstandingBytesMax: limit('outstandingBytesMax', 'The same in bytes of data', MIB, 16 * GIB),
  historyBytesMax: limit('historyBytesMax', 'History kept in memory for members that come back', 0, 16 * GIB),
  checkpointBytes: limit('checkpointBytes', 'A checkpoint is begun when this much was logged', 4096, 16 * GIB),
  checkpointTxns: limit('checkpointTxns', 'A checkpoint is begun after this many txns', 1, 1_000_000_000),
  reapPerMinuteMax: limit('reapPerMinuteMax', 'Containers and znodes with a TTL deleted in a minute', 1, 10_000_000),
  epochTxnsMax: limit('epochTxnsMax', 'A leader with this many txns in its epoch hands over', 1, 2 ** 32 - 2 ** 20),
  watchBytesMax: limit('watchBytesMax', 'Changes kept in memory for watches that are resumed', 0, 16 * GIB),
  listingsMax: limit('listingsMax', 'Listings in pages that go on at this member; past it THROTTLED', 1, 1_000),
  listingBytesMax: limit(
    'listingBytesMax',
    'What they keep of znodes that change; past it one is given up',
    MIB,
    16 * GIB,
  ),
  resumableWatchesMax: limit(
    'resumableWatchesMax',
    'Resumable watches of this member; past it THROTTLED',
    0,
    1_000_000,
  ),
  connectionWatchBytesMax: limit(
    'connectionWatchBytesMax',
    'Memory for watches of connections, as ZooKeeper has them; past it THROTTLED',
    0,
    16 * GIB,
  ),
  peerQueueBytesMax: integer({
    group: 'Limits',
    help: 'Bytes waiting to be sent to one member; past it the link is closed and the member resyncs',
    default: 64 * MIB,
    min: 32 * MIB,
    max: 16 * GIB,
  }),
  connectionsMax: integer({
    group: 'Limits',
    help: 'Client connections in all; past it new ones are closed at once; 0 is no limit',
    default: 10_000,
    min: 0,
    max: 1_000_000,
  }),
  connectionsPerAddressMax: integer({
    group: 'Limits',
    help: 'Client connections from one address; past it new ones are closed at once; 0 is no limit',
    default: 0,
    min: 0,
    max: 1_000_000,
  }),
  fourLetterWords: text({
    group: 'Operation',
    help: 'Words of four letters that are answered on the ZooKeeper port, separated by commas; * for all',
    allowed: 'words of four letters with commas between, or *',
    accepts: (value) => value === '' || value === '*' || /^[a-z]{4}(,[a-z]{4})*$/.test(value),
    default: 'srvr,isro',
  }),
  saslUsers: text({
    group: 'Operation',
    help: 'Who may prove himself by SASL DIGEST-MD5: user:password, separated by commas',
    allowed: 'user:password with commas between, or nothing for nobody',
    accepts: (value) => value === '' || /^[^:,]+:[^,]+(,[^:,]+:[^,]+)*$/.test(value),
    default: '',
    defaultText: 'nobody',
    isSecret: true,
  }),
  streamCallsMax: integer({
    group: 'Limits',
    help: 'Calls of one session stream not yet answered; past it the stream is not read from',
    default: 4096,
    min: 1,
    max: 1_000_000,
  }),
  diskFreeWarnBytes: integer({
    group: 'Operation',
    help: 'Free space of the data folder below which a warning is logged; 0 never warns',
    default: 256 * MIB,
    min: 0,
    max: 1024 * GIB,
  }),
  bootstrap: toggle({
    group: 'Operation',
    help: 'Form a new ensemble as soon as a quorum of its voters is there, all with new disks; without it all are waited for',
    default: false,
  }),
  stopGraceMs: integer({
    group: 'Operation',
    help: 'On SIGTERM: longest time to finish what is in flight before the rest is cut off',
    default: 8_000,
    min: 0,
    max: 600_000,
  }),
  logLevel: choice({
    group: 'Operation',
    help: 'Least level of log lines',
    of: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'],
    default: 'info',
  }),
} as const;

export type KeyName = keyof typeof KEYS;

/** The names in the table's order. */
export const KEY_NAMES = Object.keys(KEYS) as readonly KeyName[];

type ValueOf<K> = K extends Key<infer T> ? T : never;

/** The type of a key's value. */
export type KeyValue<N extends KeyName> = ValueOf<(typeof KEYS)[N]>;

/** What was given, by key: undefined where neither a source nor the table has a value. */
export type KeyValues = { readonly [N in KeyName]: KeyValue<N> | undefined };
