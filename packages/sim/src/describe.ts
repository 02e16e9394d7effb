/** Observations as lines for people: a failing run is read like a score, from top to bottom. No format to rely on. */
import { formatZxid } from '@quorate/protocol';
import type { Observation, StatusView } from './observation.ts';

/** Virtual time in ms and what happened. */
export function describeObservation(atUs: number, what: Observation | string): string {
  const time = (atUs / 1_000).toFixed(3).padStart(10);
  return typeof what === 'string' ? `${time} -- ${what}` : `${time} ${lineOf(what)}`;
}

function lineOf(observation: Observation): string {
  switch (observation.kind) {
    case 'started': {
      const { sid, run, disk, status } = observation;
      const { baseZxid, records, acceptedEpoch, currentEpoch, voteRight } = disk;
      const log = `${formatZxid(baseZxid)} + ${records.length} records`;
      return `${sid} started, run ${run}: disk ${log}, epochs ${acceptedEpoch}/${currentEpoch} ${voteRight}; ${statusOf(status)}`;
    }
    case 'status':
      return `${observation.sid} ${statusOf(observation.status)}`;
    case 'issued':
    case 'durable':
      return `${observation.sid} ${observation.kind} ${shapeOf(observation.command)}`;
    case 'sent':
      return `${observation.from} -> ${observation.to} ${shapeOf(observation.message)}`;
    case 'called': {
      const { callId, sid, session, attachment, op, linearizable } = observation.call;
      const from = `session ${formatZxid(session)}, attachment ${attachment}`;
      return `${sid} called #${callId} ${shapeOf(op)}${linearizable ? ' linearizable' : ''} (${from})`;
    }
    case 'answered':
      return `answered #${observation.callId} at ${formatZxid(observation.answer.zxid)} ${shapeOf(observation.answer.result)}`;
    case 'traced':
      return `${observation.sid} ${observation.name} ${shapeOf(observation.fields)}`;
    case 'struck':
      return `-- ${observation.what}`;
    default:
      return shapeOf(observation);
  }
}

function statusOf(status: StatusView): string {
  const { role, phase, epoch, leader, lastZxid, committed } = status;
  return `is ${role} (${phase}), epoch ${epoch}, leader ${leader ?? '-'}, applied ${formatZxid(lastZxid)}, committed ${formatZxid(committed)}`;
}

/** Any value as short text: bytes that are text as text, lists of records by their ends. */
function shapeOf(value: unknown): string {
  if (typeof value === 'bigint') return formatZxid(value);
  if (value instanceof Uint8Array)
    return isText(value) ? `"${String.fromCharCode(...value)}"` : `<${value.length} bytes>`;
  if (Array.isArray(value))
    return value.length > 4
      ? `[${value.length}: ${shapeOf(value[0])} .. ${shapeOf(value.at(-1))}]`
      : `[${value.map(shapeOf).join(', ')}]`;
  if (typeof value === 'string') return JSON.stringify(value).slice(1, -1);
  if (typeof value !== 'object' || value === null) return String(value);
  const { kind, ...rest } = value as { readonly kind?: string };
  const fields = Object.entries(rest).map(([key, field]) => `${key}=${shapeOf(field)}`);
  return kind === undefined ? `{${fields.join(' ')}}` : [kind, ...fields].join(' ');
}

function isText(bytes: Uint8Array): boolean {
  return bytes.length > 0 && bytes.length <= 40 && bytes.every((byte) => byte >= 32 && byte < 127);
}
