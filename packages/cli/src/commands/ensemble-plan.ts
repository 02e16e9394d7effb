/**
 * Who the members of a local ensemble are: their sids, ports and folders, and the identity of the ensemble, which is made
 * once and kept in DIR/cluster.json. Member i of base port P has P+i-1 for ZooKeeper clients, then 100, 200 and 300 more
 * for gRPC, peers and admin.
 */
import { randomBytes } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { formatMembers, type Ports } from '@quorate/server/config';

export const BASE_PORT_DEFAULT = 2181;
const MEMBERS_DEFAULT = 3;
/** More than this and the ranges of ports would run into each other; it is far beyond use. */
const MEMBERS_MAX = 32;
const HOST = '127.0.0.1';

/** A mistake of the caller: one line. */
export class EnsembleError extends Error {}

export interface PlannedMember {
  readonly sid: number;
  readonly observer: boolean;
  readonly ports: Ports;
  readonly directory: string;
  readonly logFile: string;
}

export interface Plan {
  readonly directory: string;
  readonly clusterId: string;
  readonly basePort: number;
  readonly members: readonly PlannedMember[];
}

export interface PlanOptions {
  readonly data: string;
  /** Undefined: as before, else 3. */
  readonly members: number | undefined;
  /** Undefined: as before, else 0. */
  readonly observers: number | undefined;
  /** Undefined: as before, else 2181. */
  readonly basePort: number | undefined;
}

interface ClusterFile {
  readonly clusterId: string;
  readonly members: number;
  readonly observers: number;
  readonly basePort: number;
}

/**
 * The plan for a folder: a new ensemble, or the one whose data is there. Writes cluster.json. Throws EnsembleError for
 * numbers that are not allowed, that contradict the data, or a folder that cannot be used.
 */
export function planEnsemble(options: PlanOptions): Plan {
  const directory = resolve(options.data);
  const known = readClusterFile(directory);
  const cluster: ClusterFile = {
    clusterId: known?.clusterId ?? `local-${randomBytes(6).toString('hex')}`,
    members: options.members ?? known?.members ?? MEMBERS_DEFAULT,
    observers: options.observers ?? known?.observers ?? 0,
    basePort: options.basePort ?? known?.basePort ?? BASE_PORT_DEFAULT,
  };
  check(cluster);
  if (known !== undefined && (known.members !== cluster.members || known.observers !== cluster.observers)) {
    throw new EnsembleError(
      `${directory} holds an ensemble of ${known.members} members and ${known.observers} observers, not of ${cluster.members} ` +
        `and ${cluster.observers}; give the same numbers, or another folder with --data`,
    );
  }
  writeClusterFile(directory, cluster);
  return planOf(directory, cluster);
}

/** The plan of an ensemble that was started before. Throws EnsembleError when there is none. */
export function readPlan(data: string): Plan {
  const directory = resolve(data);
  const known = readClusterFile(directory);
  if (known === undefined) {
    throw new EnsembleError(`${directory} holds no ensemble; start one with quorate ensemble --data ${data}`);
  }
  return planOf(directory, known);
}

/** The arguments of `quorate serve` for one member. */
export function serveArguments(plan: Plan, member: PlannedMember): string[] {
  const { sid, ports, directory } = member;
  const ensemble = formatMembers(
    plan.members.map((other) => ({
      sid: other.sid,
      peer: { host: HOST, port: other.ports.peer },
      observer: other.observer,
      client: { host: HOST, port: other.ports.grpc },
    })),
  );
  const flags = {
    'data-dir': directory,
    'cluster-id': plan.clusterId,
    sid,
    ensemble,
    bind: HOST,
    'admin-bind': HOST,
    'zookeeper-port': ports.zookeeper,
    'grpc-port': ports.grpc,
    'peer-port': ports.peer,
    'admin-port': ports.admin,
  };
  return ['serve', ...Object.entries(flags).map(([name, value]) => `--${name}=${value}`)];
}

/** `host:port` for each of a member's ports. */
export function endpointsOf({ zookeeper, grpc, peer, admin }: Ports): Record<keyof Ports, string> {
  return {
    zookeeper: `${HOST}:${zookeeper}`,
    grpc: `${HOST}:${grpc}`,
    peer: `${HOST}:${peer}`,
    admin: `${HOST}:${admin}`,
  };
}

function planOf(directory: string, { clusterId, members, observers, basePort }: ClusterFile): Plan {
  return {
    directory,
    clusterId,
    basePort,
    members: Array.from({ length: members + observers }, (_, index) => ({
      sid: index + 1,
      observer: index >= members,
      ports: {
        zookeeper: basePort + index,
        grpc: basePort + 100 + index,
        peer: basePort + 200 + index,
        admin: basePort + 300 + index,
      },
      directory: join(directory, `member-${index + 1}`),
      logFile: join(directory, `member-${index + 1}.log`),
    })),
  };
}

function check({ members, observers, basePort }: ClusterFile): void {
  if (!Number.isInteger(members) || members < 1) throw new EnsembleError(`Bad --members ${members}: must be 1 or more`);
  if (!Number.isInteger(observers) || observers < 0) {
    throw new EnsembleError(`Bad --observers ${observers}: must be 0 or more`);
  }
  const count = members + observers;
  if (count > MEMBERS_MAX) {
    throw new EnsembleError(`Bad --members ${members} and --observers ${observers}: together at most ${MEMBERS_MAX}`);
  }
  const last = 65_535 - 300 - count + 1;
  if (!Number.isInteger(basePort) || basePort < 1 || basePort > last) {
    throw new EnsembleError(`Bad --base-port ${basePort}: must be in 1..${last}`);
  }
}

function readClusterFile(directory: string): ClusterFile | undefined {
  const path = join(directory, 'cluster.json');
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    // With ENOTDIR the folder cannot be made either, which is said when that is tried.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined;
    throw new EnsembleError(`Cannot read ${path}: ${(error as Error).message}`);
  }
  try {
    const { clusterId, members, observers, basePort } = JSON.parse(text) as Record<keyof ClusterFile, unknown>;
    if (typeof clusterId === 'string' && [members, observers, basePort].every(Number.isInteger)) {
      return { clusterId, members: Number(members), observers: Number(observers), basePort: Number(basePort) };
    }
  } catch {
    // Said below: the same remedy for text that is no JSON and for JSON of another shape.
  }
  throw new EnsembleError(`${path} cannot be understood; put it back from a copy, or use another folder with --data`);
}

function writeClusterFile(directory: string, cluster: ClusterFile): void {
  const path = join(directory, 'cluster.json');
  try {
    makeDirectory(directory);
    writeFileSync(`${path}.new`, `${JSON.stringify(cluster, undefined, 2)}\n`);
    renameSync(`${path}.new`, path);
  } catch (error) {
    throw new EnsembleError(
      `Cannot write ${path}: ${(error as Error).message}; choose a folder you may write to with --data`,
    );
  }
}

/** With those above it. Not Node's recursive mkdir, which never ends where a file system says ENOENT below a parent that exists. */
function makeDirectory(directory: string): void {
  try {
    mkdirSync(directory);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') return;
    const parent = dirname(directory);
    if (code !== 'ENOENT' || parent === directory) throw error;
    makeDirectory(parent);
    mkdirSync(directory);
  }
}
