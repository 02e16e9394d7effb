/**
 * Counts what a run has come to: a clean run proves little when nothing happened in it. Sits among the checkers, and never
 * finds fault. A campaign of some hundred seeds must have met everything (test/sim).
 */

import type { ZabMessage } from '@quorate/core';
import type { Sid } from '@quorate/protocol';
import { fateOf } from './calls.ts';
import type { Checker } from './checkers/checker.ts';
import { FAULT_KINDS, type FaultKind } from './faults/kinds.ts';
import type { Ledger } from './ledger.ts';
import type { Observation } from './observation.ts';

/** What every few seeds meet. */
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
  'repeated',
  'outOfOrder',
  'sessions',
  'resumed',
  'ended',
] as const;

/** Why a member gave its place up, by how the reason begins or what stands in it. */
const REASONS = {
  lostQuorum: /^no quorum was heard/,
  notEstablished: /^not established within/,
  counterUsedUp: /^the counter of this epoch/,
  promisedLater: /promised epoch \d+, this one is/,
  promiseLost: /^the promise of member/,
  learnerAhead: /is ahead: epoch/,
  leaderSilent: /was silent for/,
  leaderUnlinked: /^the link to leader/,
  leaderLeft: /does not lead$/,
  lastLearnerLost: /the last to follow, is down$/,
  madeWay: /leads, and adopted epoch/,
  handedOver: /hands over to member/,
} as const;

/** What is met seldom, and must be met all the same. */
const RARE = [
  ...(Object.keys(REASONS) as (keyof typeof REASONS)[]),
  /** A snapshot that did not come to its end. */
  'installsCut',
  /** A history so long that the learner had to show in between that it got it. */
  'portions',
  'learnersDropped',
  'sessionsMoved',
  'expired',
  'throttled',
  'disksLost',
  'disksReopened',
  'leadsMoved',
  'tornTails',
  /** Voters whose disks were damaged or new, and that hold their right again. */
  'setAside',
  'disksReplaced',
  'rightsRegained',
  /** Of the data model: what was done, what was refused, what went by itself. */
  'multis',
  'multisRefused',
  'multiReads',
  'compounds',
  'subtreeSteps',
  'notified',
  'watchesSetAgain',
  'pages',
  'pagesGoneOn',
  'gaps',
  'guardFailed',
  'noAuth',
  'quotaExceeded',
  'containersReaped',
  'ttlsReaped',
] as const;

export type Covered = (typeof EVENTS)[number] | (typeof RARE)[number] | FaultKind;
/** What every few seeds meet, and what some hundred do. */
export const COMMON: readonly Covered[] = [...EVENTS, ...FAULT_KINDS];
export const COVERED: readonly Covered[] = [...COMMON, ...RARE];
export type Coverage = Record<Covered, number>;

export function noCoverage(): Coverage {
  return Object.fromEntries(COVERED.map((name) => [name, 0])) as Coverage;
}

/** What a trace of the core, or of the simulator about it, counts as. */
const TRACES: Readonly<Record<string, Covered>> = {
  syncPortion: 'portions',
  learnerDropped: 'learnersDropped',
  leaderMoved: 'leadsMoved',
  reopened: 'disksReopened',
  tornTail: 'tornTails',
  voteGiven: 'rightsRegained',
};

const MESSAGES: Readonly<Partial<Record<ZabMessage['kind'] | 'sessionMoved', Covered>>> = {
  diff: 'diffs',
  snapshot: 'snapshots',
  sessionMoved: 'sessionsMoved',
};

export class CoverageCounter implements Checker {
  readonly name = 'coverage';
  readonly kinds = [
    'struck',
    'traced',
    'diskLost',
    'diskReplaced',
    'crashed',
    'checkpointed',
    'called',
    'attached',
    'sessionEnded',
    'issued',
    'sent',
    'notified',
  ] as const;
  readonly counts = noCoverage();
  /** Members that receive a snapshot. */
  readonly #installing = new Set<Sid>();

  observe(observation: Observation): void {
    switch (observation.kind) {
      case 'struck':
        return this.#count(observation.fault);
      case 'traced':
        if (observation.name === 'looking') return this.#count(reasonOf(String(observation.fields['reason'])));
        return this.#count(TRACES[observation.name]);
      case 'diskLost':
        return this.#count('disksLost');
      case 'diskReplaced':
        return this.#count(observation.how === 'it is new' ? 'disksReplaced' : 'setAside');
      case 'crashed':
        if (this.#installing.delete(observation.sid)) this.#count('installsCut');
        return this.#count('crashes');
      case 'checkpointed':
        return this.#count('checkpoints');
      case 'called':
        return this.#count('calls');
      case 'attached':
        return this.#count(observation.resumed ? 'resumed' : 'sessions');
      case 'sessionEnded':
        return this.#count('ended');
      case 'notified':
        return this.#count('notified');
      case 'issued':
        return this.#issued(observation.sid, observation.command.kind);
      case 'sent':
        return this.#count((MESSAGES as Readonly<Record<string, Covered>>)[observation.message.kind]);
      default:
    }
  }

  finish(ledger: Ledger): void {
    const { counts } = this;
    counts.commits = ledger.committed.length;
    counts.epochs = new Set(ledger.committed.map((zxid) => zxid >> 32n)).size;
    for (const { answer } of ledger.calls.all.values()) {
      if (fateOf(answer) === 'done') counts.acknowledged += 1;
      if (fateOf(answer) === 'unknown') counts.unknown += 1;
      const code = answer?.result.kind === 'error' ? answer.result.code : undefined;
      if (code === 'THROTTLED') counts.throttled += 1;
      if (code === 'OUT_OF_ORDER') counts.outOfOrder += 1;
      if (code === 'GUARD_FAILED') counts.guardFailed += 1;
      if (code === 'NO_AUTH') counts.noAuth += 1;
      if (code === 'QUOTA_EXCEEDED') counts.quotaExceeded += 1;
      if (answer?.result.kind === 'multi') counts.multis += 1;
      if (answer?.result.kind === 'multiRead') counts.multiReads += 1;
      if (answer?.result.kind === 'setWatches') counts.watchesSetAgain += 1;
      if (answer?.result.kind === 'listChildren' || answer?.result.kind === 'getSubtree') {
        counts[answer.result.top === undefined ? 'pagesGoneOn' : 'pages'] += 1;
      }
      if (code === 'GAP') counts.gaps += 1;
      if (answer?.result.kind === 'deleteSubtree') counts.subtreeSteps += 1;
      if (answer?.result.kind === 'error' && answer.result.part !== undefined) counts.multisRefused += 1;
    }
    const containers = new Set<string>();
    for (const zxid of ledger.committed) {
      const txn = ledger.txn(zxid);
      // The leader's own txns have no member of origin.
      if (txn?.body.kind === 'repeat') counts.repeated += 1;
      if (txn?.body.kind === 'closeSession' && txn.origin.sid === 0) counts.expired += 1;
      if (txn?.body.kind === 'compound') counts.compounds += 1;
      if (txn?.body.kind === 'create' && txn.body.lifetime === 'container') containers.add(txn.body.path);
      if (txn?.body.kind === 'delete' && txn.origin.sid === 0) {
        counts[containers.has(txn.body.path) ? 'containersReaped' : 'ttlsReaped'] += 1;
      }
    }
  }

  #count(what: Covered | undefined): void {
    if (what !== undefined) this.counts[what] += 1;
  }

  #issued(sid: Sid, kind: string): void {
    if (kind === 'truncate') this.#count('truncates');
    else if (kind === 'purgeLog') this.#count('purges');
    else if (kind === 'installBegin') this.#installing.add(sid);
    else if (kind === 'installCommit') {
      this.#installing.delete(sid);
      this.#count('installs');
    } else if (kind === 'installAbort' && this.#installing.delete(sid)) this.#count('installsCut');
  }
}

function reasonOf(reason: string): keyof typeof REASONS | undefined {
  for (const [name, pattern] of Object.entries(REASONS)) if (pattern.test(reason)) return name as keyof typeof REASONS;
  return undefined;
}
