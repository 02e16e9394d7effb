/**
 * From a data folder to a core: opens the store and recovers from it. The one way in, at a start and after the disk has
 * failed; nothing that an earlier run had in memory is used. Damaged data is set aside where other voters have it all, so that
 * this member begins anew without a vote and copies theirs; alone it refuses, for what is there may be all there is. Data of
 * another member or cluster is nobody's to set aside.
 */
import { type PeerAction, type QuorumPeer, Recovery } from '@quorate/core';
import { DecodeError } from '@quorate/protocol';
import {
  lastSetAside,
  type MemberStore,
  openLevelStore,
  type RecoveredSummary,
  StorageError,
  type StoreEvents,
  setAside,
} from '@quorate/storage';
import type { ServerConfig } from './config/index.ts';
import { readClocks } from './driver.ts';
import { warnIfOpenToOthers } from './folder-mode.ts';
import type { Log } from './logging.ts';
import { memberConfigOf } from './member-config.ts';

/** A core that is ready to be driven, and what it came from. */
export interface Opened {
  readonly core: QuorumPeer;
  /** The actions that recovery gave: to be carried out first. */
  readonly first: readonly PeerAction[];
  readonly store: MemberStore;
  readonly summary: RecoveredSummary;
  /** While it has no vote because of that: where its former data is, and why it was set aside. */
  readonly setAside: string | undefined;
}

/**
 * `events` takes what the store reports from now on. Rejects with one clear line, or as `signal` does when that gives it up;
 * nothing stays open then.
 */
export async function openCore(
  config: ServerConfig,
  events: StoreEvents,
  log: Log,
  signal: AbortSignal,
): Promise<Opened> {
  const { dataDir: directory, sid } = config;
  try {
    return await openOnce(config, events, log, signal);
  } catch (thrown) {
    if (!(thrown instanceof StorageError) || thrown.code !== 'DAMAGED') throw thrown;
    const reason = thrown.message;
    if (!config.members.some((member) => !member.observer && member.sid !== sid)) {
      throw new StorageError(
        'DAMAGED',
        `${reason} (this is the only voter, so nothing was set aside: restore ${directory} from a backup)`,
        { cause: thrown },
      );
    }
    await giveUpData(config, reason, log);
    return await openOnce(config, events, log, signal);
  }
}

/** Sets the data aside, so that the member begins anew without a vote. No store has it open. */
export async function giveUpData({ dataDir, clusterId, sid }: ServerConfig, reason: string, log: Log): Promise<void> {
  const place = await setAside({ directory: dataDir, identity: { clusterId, sid }, reason });
  log.error('damagedDataSetAside', { reason, place });
}

async function openOnce(config: ServerConfig, events: StoreEvents, log: Log, signal: AbortSignal): Promise<Opened> {
  const { dataDir: directory, clusterId, sid } = config;
  const store = await openLevelStore({ directory, identity: { clusterId, sid }, events });
  try {
    await warnIfOpenToOthers(directory, log);
    const recovery = new Recovery(memberConfigOf(config));
    const summary = await store.recover({
      state: (records) => {
        signal.throwIfAborted();
        recovery.state(records);
      },
      log: (records) => {
        signal.throwIfAborted();
        recovery.log(records);
      },
    });
    signal.throwIfAborted();
    const { peer, actions } = recovery.finish(summary, readClocks());
    const setAside = summary.voteRight === 'recovering' ? await lastSetAside(directory) : undefined;
    return { core: peer, first: actions, store, summary, setAside };
  } catch (error) {
    await store.close();
    // Whole and as it was written, and yet not what its checkpoint says: it was wrong in memory before it was written.
    if (error instanceof DecodeError) {
      throw new StorageError('DAMAGED', `The data in ${directory} cannot be used: ${error.message}`, { cause: error });
    }
    throw error;
  }
}
