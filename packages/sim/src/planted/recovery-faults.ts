/** Planted faults in what a disk and a memory hold that nobody looks at for long: found after a restart, or by comparison. */
import { decodeTxn, encodeTxn, type LogRecord, type StateRecord } from '@quorate/core';
import { epochOf, nextZxid, type Zxid } from '@quorate/protocol';
import type { PlantedFault } from './plant.ts';

/** All that is logged is noted as committed. */
export const watermarkAhead: PlantedFault = {
  name: 'watermark-ahead',
  breaks: 'what a disk notes as committed is committed',
  plant: () => ({
    action: (action) => {
      if (action.kind !== 'persist' || action.command.kind !== 'append') return [action];
      const last = action.command.records.at(-1)?.zxid;
      if (last === undefined) return [action];
      return [{ ...action, command: { ...action.command, committed: last } }];
    },
  }),
};

/** A cut takes one txn more than it should. It is written again right after, so that the log is whole if all goes well. */
export const truncateTooMuch: PlantedFault = {
  name: 'truncate-too-much',
  breaks: 'a cut takes nothing that was committed',
  plant: () => {
    const records = new Map<Zxid, LogRecord>();
    return {
      action: (action) => {
        if (action.kind !== 'persist') return [action];
        const { command, ticket } = action;
        if (command.kind === 'append') for (const record of command.records) records.set(record.zxid, record);
        if (command.kind !== 'truncate') return [action];
        const lost = records.get(command.after);
        const after = (command.after - 1n) as Zxid;
        if (lost === undefined || !records.has(after) || epochOf(after) !== epochOf(command.after)) return [action];
        return [
          { kind: 'persist', ticket: ticket - 0.5, command: { kind: 'truncate', after } },
          { kind: 'persist', ticket, command: { kind: 'append', records: [lost], committed: after } },
        ];
      },
    };
  },
};

/** A snapshot is laid over what the state database held, not put in its place. */
export const snapshotMerged: PlantedFault = {
  name: 'snapshot-merged',
  breaks: 'a snapshot takes the place of the state before',
  plant: () => {
    const held = new Map<string, StateRecord>();
    let isFirst = false;
    const note = (records: readonly StateRecord[]): void => {
      for (const record of records) {
        const key = String.fromCharCode(...record.key);
        if (record.value === undefined) held.delete(key);
        else if (key.startsWith('n')) held.set(key, record);
      }
    };
    return {
      recovered: (records, { state }) => {
        note(state);
        return records;
      },
      action: (action) => {
        if (action.kind === 'checkpointPut') note(action.records);
        if (action.kind !== 'persist') return [action];
        const { command } = action;
        if (command.kind === 'installBegin') isFirst = true;
        if (command.kind !== 'installChunk') return [action];
        const before = isFirst ? [...held.values()] : [];
        isFirst = false;
        note(command.records);
        return [{ ...action, command: { ...command, records: [...before, ...command.records] } }];
      },
    };
  },
};

/** A torn record at the end of the log is taken for one. */
export const tornTailAccepted: PlantedFault = {
  name: 'torn-tail-accepted',
  breaks: 'what was not written to its end is not read',
  plant: () => ({
    recovered: (records, { tornTail }) => {
      const last = records.at(-1);
      if (tornTail === undefined || last === undefined) return records;
      const payload = last.payload.slice(0, last.payload.length >> 1);
      return [...records, { zxid: nextZxid(last.zxid), payload }];
    },
  }),
};

/** A member applies something else now and then than what it logs, and compares its tree with nobody. */
export const divergenceIgnored: PlantedFault = {
  name: 'divergence-ignored',
  breaks: 'a member whose tree differs notices it',
  plant: () => {
    const right = new Map<Zxid, LogRecord>();
    return {
      event: (event, site) => {
        if (event.kind !== 'peerMessage') return [event];
        const { message } = event;
        if (message.kind === 'compareDigest' || message.kind === 'digestAgreed') return [];
        if (message.kind !== 'propose') return [event];
        const records = message.records.map((record) => {
          const altered = site.random.chance(0.02) ? withoutData(record) : undefined;
          if (altered !== undefined) right.set(record.zxid, record);
          return altered ?? record;
        });
        return [{ ...event, message: { ...message, records } }];
      },
      action: (action) => {
        if (action.kind !== 'persist' || action.command.kind !== 'append') return [action];
        const records = action.command.records.map((record) => right.get(record.zxid) ?? record);
        return [{ ...action, command: { ...action.command, records } }];
      },
    };
  },
};

function withoutData({ zxid, payload }: LogRecord): LogRecord | undefined {
  const txn = decodeTxn(payload);
  if (txn.body.kind !== 'setData') return undefined;
  return { zxid, payload: encodeTxn({ ...txn, body: { ...txn.body, data: undefined } }) };
}
