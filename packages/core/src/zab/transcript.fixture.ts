/** For tests: what members say to each other, as text. */
import { formatZxid } from '@quorate/protocol';
import type { LogRecord, StateRecord, ZabMessage } from './messages.ts';

/** A message on one line. What a voter in good order says of its right is left out. */
export function describeMessage(message: ZabMessage): string {
  const isHeld = 'voteRight' in message && message.voteRight === 'held';
  const hidden = ['kind', ...(isHeld ? ['voteRight', 'isEmpty'] : [])];
  const fields = Object.entries(message).filter(([name]) => !hidden.includes(name));
  return [message.kind, ...fields.map(([name, value]) => `${name}=${show(value)}`)].join(' ');
}

function show(value: unknown): string {
  if (typeof value === 'bigint') return formatZxid(value);
  if (Array.isArray(value)) {
    const items = value as readonly (LogRecord | StateRecord)[];
    return `[${items.map((item) => show('zxid' in item ? item.zxid : String.fromCharCode(...item.key))).join(' ')}]`;
  }
  if (typeof value === 'object' && value !== null) {
    return `(${Object.entries(value)
      .map(([name, field]) => `${name}=${show(field)}`)
      .join(' ')})`;
  }
  return String(value);
}
