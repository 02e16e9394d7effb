/** The property itself, for as many sequences as there is time for. */
import fc from 'fast-check';
import { sequence, take } from './steps.ts';
import { Subject } from './subject.ts';

/** What many sequences must reach, or they show nothing. */
export const REACHED = [
  ...['create', 'create NO_NODE', 'create NODE_EXISTS', 'create INVALID_ARGUMENT', 'create SESSION_EXPIRED'],
  'create NO_CHILDREN_FOR_EPHEMERALS',
  ...['deleteSubtree', 'deleteSubtree NO_NODE', 'deleteSubtree INVALID_ARGUMENT', 'deleteSubtree NO_AUTH'],
  ...['createOrSet', 'createOrSet NO_NODE', 'createOrSet INVALID_ARGUMENT', 'createOrSet NO_AUTH'],
  ...['createOrSet QUOTA_EXCEEDED', 'createOrSet GUARD_FAILED', 'createOrSet OUT_OF_ORDER'],
  ...['delete', 'delete NO_NODE', 'delete BAD_VERSION', 'delete NOT_EMPTY', 'delete INVALID_ARGUMENT'],
  ...['setData', 'setData NO_NODE', 'setData BAD_VERSION', 'setData SESSION_EXPIRED'],
  ...['create OUT_OF_ORDER', 'delete OUT_OF_ORDER', 'setData OUT_OF_ORDER'],
  ...['multi', 'multi NO_NODE', 'multi NODE_EXISTS', 'multi BAD_VERSION', 'multi INVALID_ARGUMENT', 'multi NOT_EMPTY'],
  ...['create GUARD_FAILED', 'multi GUARD_FAILED', 'multi OUT_OF_ORDER'],
  ...['create QUOTA_EXCEEDED', 'setData QUOTA_EXCEEDED', 'multi QUOTA_EXCEEDED'],
  ...['createSession', 'closeSession', 'closeSession SESSION_EXPIRED', 'closeSession INVALID_ARGUMENT'],
  ...['exists', 'exists NO_NODE', 'getData', 'getChildren', 'getEphemerals', 'getAllChildrenNumber', 'multiRead'],
  ...['listChildren', 'getSubtree', 'getSubtree NO_NODE', 'getSubtree NO_AUTH'],
];

/** Runs `count` random sequences; throws with the shortest that fails. Returns what came of what in all of them. */
export function checkSequences(count: number, seed: number): ReadonlySet<string> {
  const outcomes = new Set<string>();
  const property = fc.property(sequence, (steps) => {
    const subject = new Subject(outcomes);
    for (const step of steps) take(subject, step);
    subject.finish();
  });
  fc.assert(property, { numRuns: count, seed });
  return outcomes;
}
