/**
 * Counts what a run has come to: a clean run proves little when nothing happened in it. Sits among the checkers, and never
 * finds fault.
 */

import { fateOf } from './calls.ts';
import type { Checker } from './checkers/checker.ts';
import { FAULT_KINDS, type FaultKind } from './faults/kinds.ts';
import type { Ledger } from './ledger.ts';
import type { Observation } from './observation.ts';

/** What is counted, besides the strikes of each kind of fault. */
const EVENTS = [
  'crashes',
  'epochs',
  'truncates',
  'diffs',
  'snapshots',
  'installs',
  'checkpoints',
  'purges',
  'commits',
  'calls',
  'acknowledged',
  'unknown',
  'sessions',
  'resumed',
  'ended',
] as const;

export type Covered = (typeof EVENTS)[number] | FaultKind;
export const COVERED: readonly Covered[] = [...EVENTS, ...FAULT_KINDS];
export type Coverage = Record<Covered, number>;

export function noCoverage(): Coverage {
  return Object.fromEntries(COVERED.map((name) => [name, 0])) as Coverage;
}

export class CoverageCounter implements Checker {
  readonly name = 'coverage';
  readonly kinds = [
    'struck',
    'crashed',
    'checkpointed',
    'called',
    'attached',
    'sessionEnded',
    'issued',
    'sent',
  ] as const;
  readonly counts = noCoverage();

  observe(observation: Observation): void {
    const { counts } = this;
    switch (observation.kind) {
      case 'struck':
        counts[observation.fault] += 1;
        break;
      case 'crashed':
        counts.crashes += 1;
        break;
      case 'checkpointed':
        counts.checkpoints += 1;
        break;
      case 'called':
        counts.calls += 1;
        break;
      case 'attached':
        if (observation.resumed) counts.resumed += 1;
        else counts.sessions += 1;
        break;
      case 'sessionEnded':
        counts.ended += 1;
        break;
      case 'issued':
        if (observation.command.kind === 'truncate') counts.truncates += 1;
        if (observation.command.kind === 'installCommit') counts.installs += 1;
        if (observation.command.kind === 'purgeLog') counts.purges += 1;
        break;
      case 'sent':
        if (observation.message.kind === 'diff') counts.diffs += 1;
        if (observation.message.kind === 'snapshot') counts.snapshots += 1;
        break;
      default:
        break;
    }
  }

  finish(ledger: Ledger): void {
    this.counts.commits = ledger.committed.length;
    this.counts.epochs = new Set(ledger.committed.map((zxid) => zxid >> 32n)).size;
    for (const { answer } of ledger.calls.all.values()) {
      if (fateOf(answer) === 'done') this.counts.acknowledged += 1;
      if (fateOf(answer) === 'unknown') this.counts.unknown += 1;
    }
  }
}
