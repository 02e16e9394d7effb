/**
 * The shipping data model against the slow obvious one, under random sequences of everything: all operations by several
 * sessions, txns in flight, expiry, reaping, checkpoints half done, restarts. data-model.long.e2e.test.ts runs a hundred thousand of them.
 */
import { describe, expect, it } from 'vitest';
import { checkSequences } from './property.ts';

/** What the sequences must reach, or they show nothing. */
const REACHED = [
  ...['create', 'create NO_NODE', 'create NODE_EXISTS', 'create INVALID_ARGUMENT', 'create SESSION_EXPIRED'],
  'create NO_CHILDREN_FOR_EPHEMERALS',
  ...['delete', 'delete NO_NODE', 'delete BAD_VERSION', 'delete NOT_EMPTY', 'delete INVALID_ARGUMENT'],
  ...['setData', 'setData NO_NODE', 'setData BAD_VERSION', 'setData SESSION_EXPIRED'],
  ...['create OUT_OF_ORDER', 'delete OUT_OF_ORDER', 'setData OUT_OF_ORDER'],
  ...['multi', 'multi NO_NODE', 'multi NODE_EXISTS', 'multi BAD_VERSION', 'multi INVALID_ARGUMENT', 'multi NOT_EMPTY'],
  ...['create GUARD_FAILED', 'multi GUARD_FAILED', 'multi OUT_OF_ORDER'],
  ...['createSession', 'closeSession', 'closeSession SESSION_EXPIRED', 'closeSession INVALID_ARGUMENT'],
  ...['exists', 'exists NO_NODE', 'getData', 'getChildren', 'getEphemerals', 'getAllChildrenNumber'],
];

describe('the data model against its reference', () => {
  it('C001, C002: every result, Stat, change and restart is as in the model', () => {
    const outcomes = checkSequences(400, Date.now() & 0x7fff_ffff);
    expect([...outcomes]).toEqual(expect.arrayContaining(REACHED));
  });
});
