/**
 * Values and versions: what each znode held at each version, as all answers together tell it. Versions make the order of
 * the writes of one znode known, so that real time can be checked for every answer, over all znodes at once.
 */
import { type Call, isAcknowledged, isWrite } from '../history.ts';

/** A version of a znode as the answers show it. */
interface Version {
  readonly zxid: bigint;
  value: string | undefined;
}

/** What was at each path and version. Only znodes that are made once and never deleted come in here. */
export class VersionTable {
  readonly faults: string[] = [];
  readonly #paths = new Map<string, Version[]>();

  constructor(calls: readonly Call[]) {
    const written = new Map<string, Call>();
    for (const call of calls)
      if (isWrite(call.kind) && call.value !== undefined) written.set(`${call.path} ${call.value}`, call);
    for (const call of calls) this.#take(call, written);
    for (const [path, versions] of this.#paths) this.#checkOrder(path, versions);
  }

  /** True for calls on znodes that the table follows: neither ephemeral nor sequential. */
  static follows(call: Call): boolean {
    return call.path.startsWith('/r/') || call.path.startsWith('/s/');
  }

  #take(call: Call, written: ReadonlyMap<string, Call>): void {
    if (!VersionTable.follows(call) || call.outcome !== 'ok' || call.version === undefined) return;
    if (call.zxid === undefined) return;
    const value = isWrite(call.kind) ? call.value : call.seen;
    if (call.kind === 'exists') return;
    const versions = this.#paths.get(call.path) ?? [];
    this.#paths.set(call.path, versions);
    const known = versions[call.version];
    if (known === undefined) {
      versions[call.version] = { zxid: call.zxid, value };
    } else if (known.zxid !== call.zxid || known.value !== value) {
      this.faults.push(
        `${describe(call)} has version ${call.version} = ${value} at zxid ${hex(call.zxid)}; another answer says ${known.value} at ${hex(known.zxid)}`,
      );
    }
    const writer = written.get(`${call.path} ${value}`);
    if (writer === undefined) this.faults.push(`${describe(call)} shows ${value}, which nobody wrote`);
    else if (writer.outcome === 'refused') {
      this.faults.push(`${describe(call)} shows ${value}, but ${describe(writer)} was refused (${writer.code})`);
    }
    if (call.expected !== undefined && call.version !== call.expected + 1) {
      this.faults.push(`${describe(call)} made version ${call.version} of the expected ${call.expected}`);
    }
  }

  #checkOrder(path: string, versions: readonly Version[]): void {
    let last: bigint | undefined;
    const values = new Set<string>();
    for (const [number, version] of versions.entries()) {
      if (version === undefined) continue;
      if (last !== undefined && version.zxid <= last) {
        this.faults.push(`${path}: version ${number} has zxid ${hex(version.zxid)}, not after ${hex(last)}`);
      }
      last = version.zxid;
      if (version.value === undefined) continue;
      if (values.has(version.value)) this.faults.push(`${path}: ${version.value} was written twice`);
      values.add(version.value);
    }
  }

  /** zxid of the first known version after `version`; undefined when none is known. */
  zxidAfter(path: string, version: number): bigint | undefined {
    return this.#paths.get(path)?.find((one, number) => number > version && one !== undefined)?.zxid;
  }
}

/**
 * Whatever anybody had been shown when a write, a sync or a linearizable read began, that comes before it.
 * For reads: what was read is not older than that, which the version after it tells.
 */
export function realTimeFaults(calls: readonly Call[], table: VersionTable): string[] {
  const done = calls.filter(({ outcome, zxid }) => outcome === 'ok' && zxid !== undefined);
  const byAnswer = done.toSorted((a, b) => a.completedAt - b.completedAt);
  const byCall = done.toSorted((a, b) => a.invokedAt - b.invokedAt);
  const faults: string[] = [];
  let shown: { zxid: bigint; by: Call } | undefined;
  let next = 0;
  for (const call of byCall) {
    for (; next < byAnswer.length && byAnswer[next]!.completedAt < call.invokedAt; next++) {
      const answered = byAnswer[next]!;
      if (shown === undefined || answered.zxid! > shown.zxid) shown = { zxid: answered.zxid!, by: answered };
    }
    if (shown === undefined) continue;
    const late = `${describe(call)} began after ${describe(shown.by)} had shown zxid ${hex(shown.zxid)}`;
    if (isWrite(call.kind) && call.kind !== 'delete' && call.zxid! <= shown.zxid) {
      faults.push(`${late}, but stands at ${hex(call.zxid!)}`);
    } else if (call.kind === 'sync' && call.zxid! < shown.zxid) {
      faults.push(`${late}, but reached only ${hex(call.zxid!)}`);
    } else if (call.kind === 'get' && call.linearizable && VersionTable.follows(call)) {
      const after = table.zxidAfter(call.path, call.version!);
      if (after !== undefined && after <= shown.zxid)
        faults.push(`${late}, but read version ${call.version}, replaced at ${hex(after)}`);
    }
  }
  return faults;
}

/**
 * What a session has seen it never unsees, at whatever znode and member; and its writes stand in the order in which they were
 * made. A write that was asked for again is answered with where it stood the first time, which a read made before it, and asked again
 * too, may show already: of reads only those count that were answered when the write was made.
 */
export function sessionOrderFaults(calls: readonly Call[], table: VersionTable): string[] {
  const sessions = new Map<bigint, { zxid: bigint; by: Call }>();
  const writes = new Map<bigint, { zxid: bigint; by: Call }>();
  const faults: string[] = [];
  for (const call of calls.filter(({ outcome, session }) => outcome === 'ok' && session !== 0n)) {
    if (call.zxid === undefined) continue;
    const seen = sessions.get(call.session);
    if (seen !== undefined && call.kind === 'get' && VersionTable.follows(call)) {
      const after = table.zxidAfter(call.path, call.version!);
      if (after !== undefined && after <= seen.zxid) {
        faults.push(
          `${describe(call)} read version ${call.version}, replaced at ${hex(after)}, after ${describe(seen.by)} in the same session had shown ${hex(seen.zxid)}`,
        );
      }
    }
    if (isAcknowledged(call) && call.kind !== 'delete') {
      const shown = seen !== undefined && seen.by.completedAt < call.invokedAt ? seen : undefined;
      for (const before of [writes.get(call.session), shown]) {
        if (before === undefined || call.zxid > before.zxid) continue;
        faults.push(
          `${describe(call)} stands at ${hex(call.zxid)}, not after ${hex(before.zxid)} of ${describe(before.by)} in the same session`,
        );
      }
      writes.set(call.session, { zxid: call.zxid, by: call });
    }
    if (seen === undefined || call.zxid > seen.zxid) sessions.set(call.session, { zxid: call.zxid, by: call });
  }
  return faults;
}

export function describe(call: Call): string {
  const what = call.value === undefined ? '' : ` = ${call.value}`;
  return `call ${call.id} of ${call.client} (${call.linearizable ? 'linearizable ' : ''}${call.kind} ${call.created ?? call.path}${what}, ${Math.round(call.invokedAt)}–${Math.round(call.completedAt)} ms)`;
}

export function hex(zxid: bigint): string {
  return `0x${zxid.toString(16)}`;
}
