/**
 * From a data folder to a core: opens the store and recovers from it. The one way in, at a start and after the disk has
 * failed; nothing that an earlier run had in memory is used.
 */
import { type PeerAction, type QuorumPeer, Recovery } from '@quorate/core';
import { type MemberStore, openLevelStore, type RecoveredSummary, type StoreEvents } from '@quorate/storage';
import type { ServerConfig } from './config/index.ts';
import { readClocks } from './driver.ts';
import { memberConfigOf } from './member-config.ts';

/** A core that is ready to be driven, and what it came from. */
export interface Opened {
  readonly core: QuorumPeer;
  /** The actions that recovery gave: to be carried out first. */
  readonly first: readonly PeerAction[];
  readonly store: MemberStore;
  readonly summary: RecoveredSummary;
}

/** `events` takes what the store reports from now on. Rejects with one clear line; nothing stays open then. */
export async function openCore(config: ServerConfig, events: StoreEvents): Promise<Opened> {
  const { dataDir: directory, clusterId, sid } = config;
  const store = await openLevelStore({ directory, identity: { clusterId, sid }, events });
  try {
    const recovery = new Recovery(memberConfigOf(config));
    const summary = await store.recover(recovery);
    const { peer, actions } = recovery.finish(summary, readClocks());
    return { core: peer, first: actions, store, summary };
  } catch (error) {
    await store.close();
    throw error;
  }
}
