/**
 * Watches that are resumed: over restarts and snapshots a reader is told every change once, in the order of the history, what
 * he then knows is what the tree has, and every member tells the same of a txn.
 */
import { formatZxid, type Sid, type WatchEvent, type Zxid } from '@quorate/protocol';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

type Watched = Extract<Observation, { kind: 'watched' }>;

/** What the reader at a member knows. */
interface Reader {
  run: number;
  feed: number;
  /** Paths, with the zxid of the last change. */
  known: Map<string, Zxid>;
  /** Told since the last position, with what was known before: a reader who begins again there is told it again. */
  pending: { readonly event: WatchEvent; readonly before: Zxid | undefined }[];
  /** Every change up to here was told; undefined while the state is told. */
  told: Zxid | undefined;
}

export class WatchOrderChecker implements Checker {
  readonly name = 'watch-order';
  readonly kinds = ['watched'] as const;
  readonly #readers = new Map<Sid, Reader>();
  /** What was told of each txn, by whoever told it first. */
  readonly #txns = new Map<Zxid, string>();

  observe(observation: Observation): void {
    if (observation.kind !== 'watched') return;
    const reader = this.#readerOf(observation);
    const { piece, sid } = observation;
    for (const event of piece.events) this.#hear(sid, reader, event);
    if (piece.zxid === 0n) return;
    if (reader.told !== undefined && piece.zxid < reader.told) this.#bad(sid, `went back to ${formatZxid(piece.zxid)}`);
    const isWhole = ({ event }: Reader['pending'][number]): boolean => event.zxid <= piece.zxid;
    this.#compare(
      sid,
      reader.pending.filter(isWhole).map(({ event }) => event),
    );
    reader.pending = reader.pending.filter((one) => !isWhole(one));
    reader.told = piece.zxid;
    if (piece.zxid !== observation.zxid || reader.known.size === observation.znodes) return;
    const what = `${reader.known.size} znodes at ${formatZxid(piece.zxid)}, the tree has ${observation.znodes}`;
    this.#bad(sid, `knows ${what}`);
  }

  #readerOf({ sid, run, feed, from }: Watched): Reader {
    const known = this.#readers.get(sid);
    if (known?.run === run && known.feed === feed) return known;
    const reader = known ?? { run, feed, known: new Map(), pending: [], told: undefined };
    if (from !== reader.told) this.#bad(sid, `goes on from ${from}, was at ${reader.told}`);
    for (const { event, before } of reader.pending.reverse()) {
      if (before === undefined) reader.known.delete(event.path);
      else reader.known.set(event.path, before);
    }
    if (from === undefined) reader.known.clear();
    Object.assign(reader, { run, feed, pending: [] });
    this.#readers.set(sid, reader);
    return reader;
  }

  #hear(sid: Sid, reader: Reader, event: WatchEvent): void {
    const { kind, path, zxid, stat } = event;
    if (kind === 'ready') return;
    if (kind === 'gap') {
      reader.known.clear();
      reader.pending = [];
      reader.told = undefined;
      return;
    }
    const what = `${kind} of ${path} at ${formatZxid(zxid)}`;
    const isNew = kind === 'current' || kind === 'created';
    if (isNew === reader.known.has(path))
      this.#bad(sid, `is told ${what}, which ${isNew ? 'he knew' : 'he never saw'}`);
    if (reader.told !== undefined && zxid <= reader.told) this.#bad(sid, `is told ${what} after ${reader.told}`);
    const before = reader.known.get(path);
    if (kind === 'deleted') reader.known.delete(path);
    else reader.known.set(path, stat?.mzxid ?? zxid);
    if (kind === 'current') return;
    const last = reader.pending.at(-1)?.event;
    if (last !== undefined && last.zxid > zxid) this.#bad(sid, `is told ${what} after one at ${formatZxid(last.zxid)}`);
    // While the state is told, changes of what he has not come to are left out: such a txn is not told in full.
    if (reader.told !== undefined) reader.pending.push({ event, before });
  }

  #compare(sid: Sid, events: readonly WatchEvent[]): void {
    const byTxn = new Map<Zxid, string[]>();
    for (const { kind, path, zxid, stat, data } of events) {
      const text = `${kind} ${path} ${stat?.version} ${stat?.cversion} ${stat?.czxid} ${stat?.mzxid} ${data?.length}`;
      byTxn.set(zxid, [...(byTxn.get(zxid) ?? []), text]);
    }
    for (const [zxid, texts] of byTxn) {
      const text = texts.join('; ');
      const other = this.#txns.get(zxid) ?? text;
      if (other !== text) this.#bad(sid, `is told of ${formatZxid(zxid)}: ${text}; others were: ${other}`);
      this.#txns.set(zxid, text);
    }
  }

  #bad(sid: Sid, what: string): never {
    return violated(this, `who watches at member ${sid} ${what}`);
  }
}
