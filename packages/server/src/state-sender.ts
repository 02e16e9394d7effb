/**
 * Sends streams of the state database to learners: pages are read from the store as fast as the link takes them, so that
 * a snapshot of any size needs little memory and does not close the link that it goes over.
 */
import { setImmediate } from 'node:timers/promises';
import type { PeerAction, PeerEvent } from '@quorate/core';
import { type MemberStore, reasonOf } from '@quorate/storage';
import type { Link } from './peers/link.ts';
import type { Links } from './peers/links.ts';

/** Bytes of one page, about: neither reading it here nor taking it there may hold a loop for long. Each is one synced write there. */
const PAGE_BYTES = 96 * 1024;

/** Pages are read ahead until this much waits on the link. */
const QUEUE_BYTES = 1024 * 1024;

type SendState = Extract<PeerAction, { kind: 'sendState' }>;

export class StateSender {
  readonly #links: Pick<Links, 'send' | 'get'>;
  readonly #post: (event: PeerEvent) => void;
  readonly #closed = new Set<number>();
  readonly #sending = new Set<number>();
  readonly #store: MemberStore;

  constructor(store: MemberStore, links: Pick<Links, 'send' | 'get'>, post: (event: PeerEvent) => void) {
    this.#store = store;
    this.#links = links;
    this.#post = post;
  }

  /** Begins to send; `stateSent` or `stateFailed` is posted at the end. */
  send(action: SendState): void {
    this.#sending.add(action.stream);
    void this.#run(action).finally(() => {
      this.#sending.delete(action.stream);
      this.#closed.delete(action.stream);
    });
  }

  /** Ends a stream, whether it is being sent or not. */
  close(stream: number): void {
    if (this.#sending.has(stream)) this.#closed.add(stream);
    this.#store.closeState(stream);
  }

  async #run({ stream, sid, link: number }: SendState): Promise<void> {
    try {
      for (;;) {
        const page = await this.#store.readState(stream, PAGE_BYTES);
        const link = this.#links.get(sid, number);
        // The link is gone, or the core gave the stream up: there is nobody to tell.
        if (link === undefined || this.#closed.has(stream)) break;
        if (page.records.length > 0) {
          this.#links.send(sid, number, { kind: 'stateChunk', records: page.records });
          link.flush();
        }
        if (page.done) {
          this.#post({ kind: 'stateSent', stream });
          break;
        }
        if (link.queuedBytes > QUEUE_BYTES) await drained(link);
        // A page that LevelDB has at hand comes at once: others have their turns in between.
        await setImmediate();
      }
    } catch (error) {
      if (!this.#closed.has(stream)) this.#post({ kind: 'stateFailed', stream, reason: reasonOf(error) });
    }
  }
}

function drained(link: Link): Promise<void> {
  return new Promise((resolve) => link.onceDrained(resolve));
}
