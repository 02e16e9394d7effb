/** What the members hold at the end, against what clients were told. */
import { type Call, isAcknowledged } from '../history.ts';
import { describe } from './registers.ts';

/** One member's tree, read after everything was healed and all members were at rest. */
export interface FinalState {
  readonly sid: number;
  readonly zxid: string;
  readonly digest: string;
  /** Version and value of each register. */
  readonly registers: ReadonlyMap<string, { readonly version: number; readonly value: string }>;
  /** Value by name in the shared parent. */
  readonly queue: ReadonlyMap<string, string>;
  /** Owner by path of every ephemeral, those of locks too. */
  readonly ephemerals: ReadonlyMap<string, bigint>;
}

/** All members at one zxid with one digest, and the same ephemerals. */
export function equalityFaults(states: readonly FinalState[]): string[] {
  const [first] = states;
  if (first === undefined) return ['no member was read at the end'];
  const listing = (state: FinalState): string =>
    [...state.ephemerals]
      .map(([path, owner]) => `${path} ${owner.toString(16)}`)
      .toSorted()
      .join(', ');
  return states.flatMap((state) => {
    const faults: string[] = [];
    if (state.zxid !== first.zxid || state.digest !== first.digest) {
      faults.push(
        `member ${state.sid} has digest ${state.digest} at ${state.zxid}, member ${first.sid} ${first.digest} at ${first.zxid}`,
      );
    }
    if (listing(state) !== listing(first)) {
      faults.push(
        `member ${state.sid} has the ephemerals [${listing(state)}], member ${first.sid} [${listing(first)}]`,
      );
    }
    return faults;
  });
}

/** No acknowledged write of a register is lost at any member. */
export function lostWriteFaults(calls: readonly Call[], states: readonly FinalState[]): string[] {
  const faults: string[] = [];
  for (const call of calls.filter((one) => isAcknowledged(one) && /^\/[rs]\//.test(one.path))) {
    for (const { sid, registers } of states) {
      const there = registers.get(call.path);
      if (there === undefined || there.version < call.version!) {
        faults.push(
          `member ${sid} has lost ${describe(call)}: version ${call.version}; it has ${there?.version ?? 'nothing'}`,
        );
      } else if (there.version === call.version && there.value !== call.value) {
        faults.push(`member ${sid} has ${there.value} in place of ${describe(call)}`);
      }
    }
  }
  return faults;
}

/** Sequential creates: acknowledged ones are there once and under their name, refused ones are not, none is twice. */
export function queueFaults(calls: readonly Call[], states: readonly FinalState[]): string[] {
  const creates = calls.filter(({ kind, path }) => kind === 'create' && path === '/q/n-');
  const byValue = new Map(creates.map((call) => [call.value, call]));
  const faults: string[] = [];
  const names = new Map<string, Call>();
  for (const call of creates.filter(isAcknowledged)) {
    const other = names.get(call.created!);
    if (other !== undefined) faults.push(`${describe(call)} and ${describe(other)} were given one name`);
    names.set(call.created!, call);
  }
  for (const { sid, queue } of states) {
    for (const [path, call] of names) {
      if (queue.get(path) !== call.value)
        faults.push(`member ${sid} has lost ${describe(call)}: it has ${queue.get(path) ?? 'nothing'} there`);
    }
    const seen = new Set<string>();
    for (const [path, value] of queue) {
      const call = byValue.get(value);
      if (call === undefined) faults.push(`member ${sid} has ${path} = ${value}, which nobody created`);
      else if (call.outcome === 'refused')
        faults.push(`member ${sid} has ${path}, but ${describe(call)} was refused (${call.code})`);
      if (seen.has(value)) faults.push(`member ${sid} has ${value} twice`);
      seen.add(value);
    }
  }
  return faults;
}

/** C022: no ephemeral without a live session, none missing of a live one, and the session saw its own all the time. */
export function ephemeralFaults(
  calls: readonly Call[],
  states: readonly FinalState[],
  liveSessions: ReadonlySet<bigint>,
): string[] {
  const faults: string[] = [];
  const created = calls.filter(
    (call) => call.kind === 'create' && call.path.startsWith('/e/') && call.outcome === 'ok',
  );
  const deletes = new Map(calls.filter(({ kind }) => kind === 'delete').map((call) => [call.path, call]));
  for (const { sid, ephemerals } of states) {
    for (const [path, owner] of ephemerals) {
      if (!liveSessions.has(owner))
        faults.push(`member ${sid} has ${path} of session ${owner.toString(16)}, which has ended`);
      if (deletes.get(path)?.outcome === 'ok') faults.push(`member ${sid} has ${path}, which was deleted`);
    }
    for (const call of created) {
      const isDue = liveSessions.has(call.owner!) && !deletes.has(call.created!);
      if (isDue && !ephemerals.has(call.created!))
        faults.push(`member ${sid} lacks ${call.created} of the live session ${call.owner!.toString(16)}`);
    }
  }
  const byPath = new Map(created.map((call) => [call.created, call]));
  for (const call of calls.filter(({ kind, outcome }) => kind === 'exists' && outcome === 'ok')) {
    const create = byPath.get(call.path);
    if (create === undefined || deletes.has(call.path) || call.version !== undefined) continue;
    if (create.owner === call.session)
      faults.push(`${describe(call)} did not see the ephemeral of its own live session`);
  }
  return faults;
}
