/** Every checker, in the order in which they are asked: the most telling first. */
import { AcknowledgedWritesChecker } from './acknowledged-writes.ts';
import { AgreementChecker } from './agreement.ts';
import { AnswersFitHistoryChecker } from './answers-fit-history.ts';
import type { Checker } from './checker.ts';
import { EpochAfterHistoryChecker } from './epoch-after-history.ts';
import { EqualDigestChecker } from './equal-digest.ts';
import { LinearizableChecker } from './linearizable.ts';
import { ListingsChecker } from './listings.ts';
import { LivenessChecker } from './liveness.ts';
import { NoFailureChecker } from './no-failure.ts';
import { OnceChecker } from './once.ts';
import { OneAnswerChecker } from './one-answer.ts';
import { OneLeaderChecker } from './one-leader.ts';
import { PrimaryOrderChecker } from './primary-order.ts';
import { PromiseDurableChecker } from './promise-durable.ts';
import { QuorumDurabilityChecker } from './quorum-durability.ts';
import { RealTimeChecker } from './real-time.ts';
import { ReapedChecker } from './reaped.ts';
import { RecoveryChecker } from './recovery.ts';
import { SessionExpiryChecker } from './session-expiry.ts';
import { SessionFateChecker } from './session-fate.ts';
import { SessionOrderChecker } from './session-order.ts';
import { VoteGrantChecker } from './vote-grant.ts';
import { VoteRightChecker } from './vote-right.ts';
import { WatchOrderChecker } from './watch-order.ts';
import { WatchesChecker } from './watches.ts';

/** New checkers for one run. */
export function allCheckers(): readonly Checker[] {
  return [
    new OneLeaderChecker(),
    new PromiseDurableChecker(),
    new EpochAfterHistoryChecker(),
    new RecoveryChecker(),
    new AgreementChecker(),
    new PrimaryOrderChecker(),
    new QuorumDurabilityChecker(),
    new VoteRightChecker(),
    new VoteGrantChecker(),
    new EqualDigestChecker(),
    new OneAnswerChecker(),
    new OnceChecker(),
    new SessionOrderChecker(),
    new RealTimeChecker(),
    new AcknowledgedWritesChecker(),
    new AnswersFitHistoryChecker(),
    new ListingsChecker(),
    new LinearizableChecker(),
    new ReapedChecker(),
    new SessionExpiryChecker(),
    new SessionFateChecker(),
    new WatchOrderChecker(),
    new WatchesChecker(),
    new NoFailureChecker(),
    new LivenessChecker(),
  ];
}

/** Their names, in that order. */
export const CHECKER_NAMES: readonly string[] = allCheckers().map(({ name }) => name);
