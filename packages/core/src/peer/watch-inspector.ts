/** What an operator asks about the watches that connections have here, as ZooKeeper's tools show them: of data and existence. */
import type { SessionId } from '@quorate/protocol';
import type { Attachments } from '../pipeline/attachments.ts';
import type { Watches } from '../pipeline/watches.ts';

export interface WatchSummary {
  /** Connections that watch something. */
  readonly connections: number;
  readonly paths: number;
  /** A path that two connections watch counts twice. */
  readonly watches: number;
}

export class WatchInspector {
  readonly #watches: Watches;
  readonly #attachments: Attachments;

  constructor(watches: Watches, attachments: Attachments) {
    this.#watches = watches;
    this.#attachments = attachments;
  }

  /** Looks at every watch. */
  summary(): WatchSummary {
    let paths = 0;
    let watches = 0;
    for (const { attachments } of this.#watches.watchedData()) {
      paths++;
      watches += attachments.length;
    }
    return { connections: this.#watches.owners, paths, watches };
  }

  /** The first `limit` paths that are watched, with the sessions that watch them. */
  byPath(limit: number): readonly { readonly path: string; readonly sessions: readonly SessionId[] }[] {
    const shown = [];
    for (const { path, attachments } of this.#watches.watchedData()) {
      if (shown.length === limit) break;
      shown.push({ path, sessions: attachments.flatMap((number) => this.#attachments.get(number)?.session ?? []) });
    }
    return shown;
  }
}
