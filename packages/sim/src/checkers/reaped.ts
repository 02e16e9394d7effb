/**
 * What the ensemble deletes by itself: a container that has had children and has none, a znode with a TTL that has none and whose data
 * is older than that by the clock of the leader that says so. Nothing else, and no container is forgotten: under a leader that stays,
 * one that has become empty goes within a round of the reaper. Source: reference §5.5.
 */
import type { Txn } from '@quorate/core';
import { formatZxid, ZERO_ZXID, type Zxid } from '@quorate/protocol';
import type { Ledger } from '../ledger.ts';
import type { Observation } from '../observation.ts';
import { TreeModel } from '../tree-model.ts';
import { type Checker, violated } from './checker.ts';

/** From the time that the reaper looks to the time that the delete is applied, when all is well, µs. */
const SLACK_US = 1_000_000;

export class ReapedChecker implements Checker {
  readonly name = 'reaped';
  readonly kinds = ['status', 'settled'] as const;
  /** How far the history had come, and when. */
  readonly #tips: { readonly atUs: number; readonly tip: Zxid }[] = [];
  /** The member that leads, and since when. */
  #leader: { readonly who: string; readonly sinceUs: number } | undefined;
  #settledUs: number | undefined;

  observe(observation: Observation, { nowUs, tip }: Ledger): void {
    if (observation.kind === 'settled') this.#settledUs = observation.atUs;
    if (observation.kind !== 'status') return;
    if (tip !== (this.#tips.at(-1)?.tip ?? ZERO_ZXID)) this.#tips.push({ atUs: nowUs, tip });
    const { sid, run, status } = observation;
    const who = `${sid} ${run} ${status.epoch}`;
    const isLeading = status.role === 'leading' && status.phase === 'broadcast' && status.hasQuorum;
    if (isLeading && this.#leader?.who !== who) this.#leader = { who, sinceUs: nowUs };
    else if (!isLeading && this.#leader?.who === who) this.#leader = undefined;
  }

  finish(ledger: Ledger): void {
    const model = new TreeModel();
    for (const zxid of ledger.committed) {
      const txn = ledger.txn(zxid);
      if (txn === undefined) continue;
      const fault = faultOf(model, txn);
      if (fault !== undefined) violated(this, `the ensemble has deleted ${fault} at ${formatZxid(zxid)}`);
      model.apply(zxid, txn);
    }
    this.#checkForgotten(ledger, model);
  }

  #checkForgotten({ clocks }: Ledger, model: TreeModel): void {
    const roundUs = (clocks.reapIntervalMs / (1 - clocks.driftMax)) * 1_000 + SLACK_US;
    const beforeUs = (this.#settledUs ?? 0) - roundUs;
    if (this.#leader === undefined || this.#leader.sinceUs > beforeUs) return;
    const tip = this.#tips.findLast(({ atUs }) => atUs <= beforeUs)?.tip ?? ZERO_ZXID;
    for (const [path, { lifetime, children, creates, pzxid }] of model.znodes) {
      if (lifetime !== 'container' || children.size > 0 || creates === 0 || pzxid > tip) continue;
      violated(this, `the container ${path} is empty since ${formatZxid(pzxid)} and was not deleted`);
    }
  }
}

/** What is wrong with a delete that the leader made by itself. */
function faultOf(model: TreeModel, { origin, body, timeMs }: Txn): string | undefined {
  if (origin.sid !== 0 || body.kind !== 'delete') return undefined;
  const { path } = body;
  const znode = model.znodes.get(path);
  if (znode === undefined) return `${path}, which is not there`;
  const { lifetime, children, creates, mtimeMs } = znode;
  if (children.size > 0) return `${path}, which has children`;
  if (lifetime === undefined) return `${path}, which lives until somebody deletes it`;
  if (lifetime === 'container') return creates > 0 ? undefined : `the container ${path}, which never had a child`;
  const ageMs = timeMs - mtimeMs;
  return ageMs > lifetime.ttlMs ? undefined : `${path} at the age of ${ageMs} ms, its TTL is ${lifetime.ttlMs} ms`;
}
