/**
 * Synchronization: every learner's log becomes a prefix-extension of the leader's, and a quorum adopts the epoch with it.
 *
 *     leader                                          learner
 *     truncate(after)         when it has more   →    cut (TRUNC)
 *     snapshot, stateChunk…, stateEnd            →    replace the state (SNAP), when history in memory does not reach back
 *     diff(records)…                             →    append (DIFF)
 *     ping, when more history follows            →    pong, and the next portion comes
 *     newLeader(epoch, last)                     →    history on disk, then currentEpoch on disk      (Z2)
 *                                                ←    ackNewLeader
 *     a quorum: all of the history is committed
 *     upToDate(committed)                        →    deliver, serve
 *
 * Why cutting after the leader's largest zxid not above the learner's last is exact: README, "Synchronization".
 * Source: Zab paper §V phase 2; reference §9.5, §9.6, §9.11.
 */
import { assert, epochOf, formatZxid, type Zxid } from '@quorate/protocol';
import { commitByQuorum } from './broadcast.ts';
import type { ZabContext } from './context.ts';
import { commitFault, cutFault, recordsFault } from './fit.ts';
import { countedLearner, dropLearner, type Leadership, type Learner } from './leadership.ts';
import type { Learnership } from './learnership.ts';
import type { LogRecord, ZabMessage } from './messages.ts';
import { isQuorum } from './quorum.ts';
import { fault, GO_ON, type Verdict } from './verdict.ts';

/** History that is sent before the learner has shown that it got it, in messages: a link's queue must never be full of it. */
const PORTION_MESSAGES = 8;

/** What a record takes in a message beside its payload, bytes. */
const RECORD_OVERHEAD = 24;

/** Leader: begins with a learner that has accepted the epoch. */
export function synchronize(context: ZabContext, leadership: Leadership, learner: Learner): void {
  assert(learner.stage === 'acked', () => `Cannot synchronize member ${learner.sid} in stage ${learner.stage}`);
  const common = context.history.floor(learner.lastZxid);
  if (common === undefined) {
    const stream = context.nextStream++;
    learner.stage = 'streaming';
    learner.stream = stream;
    context.history.pin(stream, context.checkpoint);
    context.host.trace('syncSnapshot', { learner: learner.sid, last: formatZxid(learner.lastZxid) });
    context.host.openState(stream);
    return;
  }
  if (common !== learner.lastZxid) {
    context.host.trace('syncTruncate', { learner: learner.sid, after: formatZxid(common) });
    context.host.send(learner.sid, learner.link, { kind: 'truncate', after: common });
  }
  sendHistory(context, leadership, learner, common);
}

/** Leader: the state database was opened at `zxid` for the learner's snapshot. */
export function sendSnapshot(context: ZabContext, learner: Learner, stream: number, zxid: Zxid): void {
  assert(
    zxid > learner.lastZxid && zxid >= context.history.base,
    () => `Z9: snapshot at ${formatZxid(zxid)} does not reach from ${formatZxid(learner.lastZxid)} into the history`,
  );
  context.history.pin(stream, zxid);
  learner.lastZxid = zxid;
  context.host.send(learner.sid, learner.link, { kind: 'snapshot', zxid });
  context.host.sendState(stream, learner.sid, learner.link);
}

/** Leader: the last piece of the snapshot is on its way. */
export function finishSnapshot(context: ZabContext, leadership: Leadership, learner: Learner, stream: number): void {
  context.host.send(learner.sid, learner.link, { kind: 'stateEnd', zxid: learner.lastZxid });
  learner.stream = undefined;
  sendHistory(context, leadership, learner, learner.lastZxid);
  context.history.unpin(stream);
  context.host.closeState(stream);
}

/** Begins to send everything the leader has after `common`. */
function sendHistory(context: ZabContext, leadership: Leadership, learner: Learner, common: Zxid): void {
  learner.sent = common;
  learner.acked = common;
  learner.heardMs = context.nowMs;
  context.host.trace('syncHistory', {
    learner: learner.sid,
    from: formatZxid(common),
    to: formatZxid(context.history.last),
  });
  sendPortion(context, leadership, learner);
}

/** The next portion, and after the last one newLeader: from there on the learner gets every proposal. */
function sendPortion(context: ZabContext, leadership: Leadership, learner: Learner): void {
  const { history, host } = context;
  const { syncMessageBytes } = context.config.limits;
  const { sid, link } = learner;
  let bytes = 0;
  for (const part of parts(history.after(learner.sent), syncMessageBytes)) {
    if (bytes >= PORTION_MESSAGES * syncMessageBytes) {
      const portion = { ping: leadership.nextPing(context.nowMs), pin: context.nextStream++ };
      learner.stage = 'catchingUp';
      learner.portion = portion;
      history.pin(portion.pin, learner.sent);
      host.trace('syncPortion', { learner: sid, to: formatZxid(learner.sent) });
      host.send(sid, link, { kind: 'ping', seq: portion.ping });
      return;
    }
    host.send(sid, link, { kind: 'diff', records: part.records });
    learner.sent = part.last;
    bytes += part.bytes;
  }
  learner.stage = 'synchronizing';
  learner.newLeaderZxid = learner.sent;
  host.send(sid, link, { kind: 'newLeader', epoch: leadership.establishedEpoch, lastZxid: learner.sent });
}

/** Leader: the learner has answered a ping. When it was that behind a portion of the history, the next one follows. */
export function continueHistory(context: ZabContext, leadership: Leadership, learner: Learner): void {
  const { portion } = learner;
  if (portion === undefined || learner.pong < portion.ping) return;
  learner.portion = undefined;
  sendPortion(context, leadership, learner);
  context.history.unpin(portion.pin);
}

interface Part {
  readonly records: readonly LogRecord[];
  readonly last: Zxid;
  readonly bytes: number;
}

/** The records in parts that make one message each. */
function* parts(records: readonly LogRecord[], bytesMax: number): Generator<Part> {
  let from = 0;
  let bytes = 0;
  for (const [at, { zxid, payload }] of records.entries()) {
    bytes += payload.length + RECORD_OVERHEAD;
    if (bytes < bytesMax && at < records.length - 1) continue;
    yield { records: records.slice(from, at + 1), last: zxid, bytes };
    from = at + 1;
    bytes = 0;
  }
}

/** Leader: a learner has the history and the epoch on its disk. */
export function takeAckNewLeader(context: ZabContext, leadership: Leadership, learner: Learner, epoch: number): void {
  if (learner.stage !== 'synchronizing' || epoch !== leadership.establishedEpoch) {
    dropLearner(context, leadership, learner, `ackNewLeader for epoch ${epoch} in stage ${learner.stage}`);
    return;
  }
  learner.stage = 'active';
  learner.acked = learner.newLeaderZxid;
  // What it was synchronized with is on its disk: that alone can be the acknowledgement that a proposal waits for.
  commitByQuorum(context, leadership);
  if (leadership.isEstablished) sendUpToDate(context, learner);
}

/** The leader itself counts only when its own disk has adopted the epoch; it leads only when it counts. */
export function isHistoryAgreed(context: ZabContext, leadership: Leadership): boolean {
  const { config } = context;
  if (!leadership.hasAdopted) return false;
  return isQuorum(
    config.voters,
    (sid) => sid === config.sid || countedLearner(context, leadership, sid)?.stage === 'active',
  );
}

export function sendUpToDate(context: ZabContext, learner: Learner): void {
  const { committed } = context.history;
  learner.toldCommitted = committed;
  context.host.send(learner.sid, learner.link, { kind: 'upToDate', committed });
}

/** Learner: one message of the synchronization data. */
export function takeSyncData(
  context: ZabContext,
  learnership: Learnership,
  message: Extract<ZabMessage, { kind: 'truncate' | 'snapshot' | 'stateChunk' | 'stateEnd' | 'diff' }>,
): Verdict {
  const { history, disk, host } = context;
  const { kind } = message;
  const expected = kind === 'stateChunk' || kind === 'stateEnd' ? 'installing' : 'synchronizing';
  if (learnership.phase !== expected) return fault(`${kind} in phase ${learnership.phase}`);
  const isFirst = !learnership.hasSyncData;
  learnership.hasSyncData = true;
  switch (kind) {
    case 'truncate': {
      const wrong = isFirst ? cutFault(history, message.after) : 'it is not the first of the synchronization';
      if (wrong !== undefined) return fault(`truncate: ${wrong}`);
      disk.truncate(message.after);
      return GO_ON;
    }
    case 'snapshot':
      if (!isFirst || message.zxid <= history.last || epochOf(message.zxid) > learnership.epoch) {
        return fault(`snapshot at ${formatZxid(message.zxid)}, the last zxid here is ${formatZxid(history.last)}`);
      }
      learnership.phase = 'installing';
      learnership.snapshotZxid = message.zxid;
      host.installBegin();
      disk.install({ kind: 'installBegin' });
      return GO_ON;
    case 'stateChunk': {
      const wrong = host.installRecords(message.records);
      if (wrong !== undefined) return fault(`stateChunk: ${wrong}`);
      disk.install({ kind: 'installChunk', records: message.records });
      return GO_ON;
    }
    case 'stateEnd':
      return endSnapshot(context, learnership, message.zxid);
    case 'diff': {
      const wrong = recordsFault(history, message.records, (epoch) => epoch <= learnership.epoch);
      if (wrong !== undefined) return fault(`diff: ${wrong}`);
      for (const record of message.records) history.append(record);
      return GO_ON;
    }
  }
}

/** Learner: the snapshot is here, and becomes the state if it is whole and what was announced. */
function endSnapshot(context: ZabContext, learnership: Learnership, zxid: Zxid): Verdict {
  const { history, disk, host } = context;
  const { snapshotZxid } = learnership;
  if (zxid !== snapshotZxid) {
    return fault(`stateEnd at ${formatZxid(zxid)} of a snapshot at ${formatZxid(snapshotZxid ?? 0n)}`);
  }
  const wrong = host.installCheck(zxid);
  if (wrong !== undefined) return fault(`stateEnd: ${wrong}`);
  learnership.phase = 'synchronizing';
  history.reset(zxid);
  context.checkpoint = zxid;
  // Z9: the snapshot serves only when it is on disk (ZOOKEEPER-3642); it stays so even if this leader goes.
  disk.installCommit(zxid, () => host.installEnd(zxid));
  return GO_ON;
}

/** Learner: all of the history is here; adopt the epoch once both are on disk, in that order (ZOOKEEPER-4643). */
export function takeNewLeader(
  context: ZabContext,
  learnership: Learnership,
  message: Extract<ZabMessage, { kind: 'newLeader' }>,
): Verdict {
  const { history, disk } = context;
  const { epoch, lastZxid } = message;
  if (learnership.phase !== 'synchronizing' || epoch !== learnership.epoch || lastZxid !== history.last) {
    return fault(`newLeader for epoch ${epoch} at ${formatZxid(lastZxid)}, last here is ${formatZxid(history.last)}`);
  }
  learnership.phase = 'adopting';
  learnership.newLeaderZxid = lastZxid;
  learnership.acked = lastZxid;
  context.currentEpoch = epoch;
  disk.saveEpochs(context.promises, () => {
    if (learnership.isOver) return;
    assert(history.flushed >= lastZxid, () => `Z2: epoch ${epoch} adopted before ${formatZxid(lastZxid)} is on disk`);
    learnership.hasAdoptedEpoch = true;
    context.host.send(learnership.leader, learnership.link, { kind: 'ackNewLeader', epoch });
  });
  return GO_ON;
}

/** Learner: the epoch is established. */
export function takeUpToDate(context: ZabContext, learnership: Learnership, committed: Zxid): Verdict {
  if (learnership.phase !== 'adopting' || !learnership.hasAdoptedEpoch) {
    return fault(`upToDate in phase ${learnership.phase}`);
  }
  const wrong = commitFault(context.history, committed);
  if (wrong !== undefined) return fault(`upToDate: ${wrong}`);
  learnership.phase = 'following';
  const { newLeaderZxid = committed } = learnership;
  learnership.servesFrom = committed > newLeaderZxid ? committed : newLeaderZxid;
  context.history.commit(committed);
  return GO_ON;
}
