/**
 * Broadcast: the leader proposes txns in order, voters log and acknowledge them, a quorum commits them.
 * Batches form by themselves: what one turn brings is one append, one message a learner, one acknowledgement, and the
 * commit point rides on the next proposal when there is one. All counters are cumulative.
 * Source: Zab paper §V phase 3; reference §9.7.
 */
import { assert, COUNTER_MAX, counterOf, epochOf, formatZxid, makeZxid, nextZxid, type Zxid } from '@quorate/protocol';
import type { ZabContext } from './context.ts';
import { commitFault, recordsFault } from './fit.ts';
import { countedLearner, dropLearner, type Leadership, type Learner } from './leadership.ts';
import type { Learnership } from './learnership.ts';
import type { ZabMessage } from './messages.ts';
import { isQuorum, reachedByQuorum } from './quorum.ts';
import { fault, GO_ON, type Verdict } from './verdict.ts';

/** Leader: gives the payload its place in the history. It leaves with the rest of its turn. */
export function propose(context: ZabContext, leadership: Leadership, payload: Uint8Array): Zxid {
  const { history } = context;
  const epoch = leadership.establishedEpoch;
  assert(leadership.isEstablished, () => `Cannot propose in epoch ${epoch}: it is not established`);
  const { last } = history;
  assert(counterOf(last) < COUNTER_MAX, () => `Z1: the counter of epoch ${epoch} is used up`);
  const zxid = epochOf(last) === epoch ? nextZxid(last) : makeZxid(epoch, 1);
  history.append({ zxid, payload });
  return zxid;
}

/** Leader: true when this epoch must end so that the counter never flows into the epoch (ZOOKEEPER-1277). */
export function isCounterNearlyUsedUp(context: ZabContext, leadership: Leadership): boolean {
  const { last } = context.history;
  return epochOf(last) === leadership.epoch && counterOf(last) >= context.config.limits.epochTxnsMax;
}

/** How many txns the present epoch still takes before its leader begins another one. */
export function epochTxnsLeft({ history, currentEpoch, config }: ZabContext): number {
  const used = epochOf(history.last) === currentEpoch ? counterOf(history.last) : 0;
  return Math.max(0, config.limits.epochTxnsMax - used);
}

/** Leader: says once, when a tenth of the epoch is left, that it will end: writes pause then as at any change of leader. */
export function warnOfEpochEnd(context: ZabContext, leadership: Leadership): void {
  if (leadership.isEndTold || !leadership.isEstablished) return;
  const left = epochTxnsLeft(context);
  if (left > context.config.limits.epochTxnsMax / 10) return;
  leadership.isEndTold = true;
  context.host.trace('epochNearlyUsedUp', { epochTxnsLeft: left });
}

/** Leader, end of a turn: sends what was gathered, to the disk and to every learner that is up to the broadcast. */
export function flushLeader(context: ZabContext, leadership: Leadership): void {
  const { history, host, disk } = context;
  disk.issueAppends();
  const { last, committed } = history;
  let batchFrom: Zxid | undefined;
  let batch: Extract<ZabMessage, { kind: 'propose' }> | undefined;
  for (const learner of leadership.learners.values()) {
    if (learner.stage !== 'synchronizing' && learner.stage !== 'active') continue;
    if (learner.sent < last) {
      if (batch === undefined || batchFrom !== learner.sent) {
        batchFrom = learner.sent;
        batch = { kind: 'propose', records: history.after(learner.sent), committed };
      }
      host.send(learner.sid, learner.link, batch);
      learner.sent = last;
      learner.toldCommitted = committed;
    } else if (learner.stage === 'active' && learner.toldCommitted < committed) {
      host.send(learner.sid, learner.link, { kind: 'commit', zxid: committed });
      learner.toldCommitted = committed;
    }
  }
  if (leadership.pingDue) ping(context, leadership);
}

/** Leader: asks every learner whether it still follows. */
export function ping(context: ZabContext, leadership: Leadership): void {
  leadership.pingDue = false;
  leadership.pingedMs = context.nowMs;
  const seq = leadership.nextPing(context.nowMs);
  for (const learner of leadership.learners.values()) {
    if (learner.stage === 'informed') continue;
    context.host.send(learner.sid, learner.link, { kind: 'ping', seq });
  }
}

/**
 * Leader: commits what a quorum holds on disk. Z7: only txns of its own epoch are committed by counting; what came before was
 * committed when a quorum adopted the epoch.
 */
export function commitByQuorum(context: ZabContext, leadership: Leadership): void {
  const { config, history } = context;
  if (!leadership.isEstablished) return;
  const reached = reachedByQuorum<bigint>(config.voters, (sid) => {
    if (sid === config.sid) return history.flushed;
    const learner = countedLearner(context, leadership, sid);
    return learner?.stage === 'active' ? learner.acked : 0n;
  }) as Zxid;
  if (reached <= history.committed) return;
  assert(
    epochOf(reached) === leadership.epoch,
    () => `Z7: ${formatZxid(reached)} would be committed by counting in epoch ${leadership.epoch}`,
  );
  history.commit(reached);
}

/** Leader: true when a quorum of voters was heard from within `withinMs`. */
export function isHeardByQuorum(context: ZabContext, leadership: Leadership, withinMs: number): boolean {
  return isQuorum(context.config.voters, (sid) => {
    if (sid === context.config.sid) return true;
    const learner = countedLearner(context, leadership, sid);
    return learner?.stage === 'active' && context.nowMs - learner.heardMs <= withinMs;
  });
}

/** Leader: an acknowledgement, or the answer to a ping. */
export function takeFromLearner(
  context: ZabContext,
  leadership: Leadership,
  learner: Learner,
  message: Extract<ZabMessage, { kind: 'ack' | 'pong' }>,
): void {
  if (message.kind === 'pong') {
    if (message.seq > leadership.pingSeq) {
      dropLearner(context, leadership, learner, `pong ${message.seq}, the last ping was ${leadership.pingSeq}`);
      return;
    }
    if (message.seq > learner.pong) learner.pong = message.seq;
    const sentMs = leadership.pingSentMs(message.seq);
    if (sentMs !== undefined && sentMs > learner.answeredMs) learner.answeredMs = sentMs;
    return;
  }
  const { zxid } = message;
  // What is before the history in memory was there once: a slow learner is still on its way through it.
  const isPlace = (context.history.floor(zxid) ?? zxid) === zxid;
  if (learner.stage !== 'active' || zxid > learner.sent || zxid < learner.acked || !isPlace) {
    dropLearner(context, leadership, learner, `ack of ${formatZxid(zxid)} in stage ${learner.stage}`);
    return;
  }
  learner.acked = zxid;
}

/** Leader: the last ping that a quorum has answered; its own answer is always there. */
export function confirmedPing(context: ZabContext, leadership: Leadership): number {
  return reachedByQuorum<number>(context.config.voters, (sid) => {
    if (sid === context.config.sid) return leadership.pingSeq;
    const learner = countedLearner(context, leadership, sid);
    return learner?.stage === 'active' ? learner.pong : 0;
  });
}

/** Learner: proposals, commits, pings. */
export function takeFromLeader(
  context: ZabContext,
  learnership: Learnership,
  message: Extract<ZabMessage, { kind: 'propose' | 'commit' | 'ping' }>,
): Verdict {
  const { history, host } = context;
  if (message.kind === 'ping') {
    host.send(learnership.leader, learnership.link, { kind: 'pong', seq: message.seq });
    return GO_ON;
  }
  const { phase } = learnership;
  if (phase !== 'adopting' && phase !== 'following') return fault(`${message.kind} in phase ${phase}`);
  if (message.kind === 'propose') {
    const wrong = recordsFault(history, message.records, (epoch) => epoch === learnership.epoch);
    if (wrong !== undefined) return fault(`propose: ${wrong}`);
    for (const record of message.records) history.append(record);
  }
  const committed = message.kind === 'propose' ? message.committed : message.zxid;
  const wrong = commitFault(history, committed);
  if (wrong !== undefined) return fault(`commit: ${wrong}`);
  history.commit(committed);
  return GO_ON;
}

/** Learner, end of a turn: hands what came to the disk, acknowledges what the disk has. Z2: never the other way round. */
export function flushLearner(context: ZabContext, learnership: Learnership): void {
  context.disk.issueAppends();
  const { flushed } = context.history;
  if (!learnership.hasAdoptedEpoch || flushed <= learnership.acked) return;
  learnership.acked = flushed;
  context.host.send(learnership.leader, learnership.link, { kind: 'ack', zxid: flushed });
}
