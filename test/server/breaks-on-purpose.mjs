/** Loaded into a member (node --import): the stage named by BREAK_AT throws once /poison is in it. */

import { LeaderDesk } from '../../packages/core/dist/pipeline/leader-desk.js';
import { Preparation } from '../../packages/core/dist/pipeline/prepare.js';
import { DataTree } from '../../packages/core/dist/tree/data-tree.js';
import { History } from '../../packages/core/dist/zab/history.js';
import { Calls } from '../../packages/server/dist/calls.js';
import { LogLane } from '../../packages/storage/dist/log-lane.js';

const stage = process.env.BREAK_AT;
const text = new TextDecoder('latin1');

const isPoison = (value) => JSON.stringify(value, (_, one) => plain(one)).includes('/poison');

function plain(value) {
  if (typeof value === 'bigint') return String(value);
  return value instanceof Uint8Array ? text.decode(value) : value;
}

const holds = (...values) => values.some(isPoison);

let isPoisoned = false;

/** `method` throws when `when` says so of its arguments. */
function breakIn(type, method, when) {
  const whole = type.prototype[method];
  type.prototype[method] = function (...values) {
    if (when(...values)) throw new Error(`broken on purpose in ${stage}`);
    return whole.apply(this, values);
  };
}

const BREAKS = {
  order: () => breakIn(LeaderDesk, 'order', (_, requests) => holds(requests)),
  prepare: () => breakIn(Preparation, 'prepare', (request) => holds(request)),
  propose: () => breakIn(History, 'append', (record) => holds(record)),
  append: () => breakIn(LogLane, 'submit', (_, command) => holds(command)),
  commit: () => {
    breakIn(History, 'append', (record) => {
      isPoisoned ||= holds(record);
      return false;
    });
    breakIn(History, 'commit', () => isPoisoned);
  },
  apply: () => breakIn(DataTree, 'apply', (_, txn) => holds(txn)),
  answer: () => breakIn(Calls, 'answer', (_, answer) => holds(answer)),
  read: () => breakIn(DataTree, 'data', (path) => path === '/poison'),
};
BREAKS[stage]?.();
