/** What the client hands out: znodes with their data and their stat. */
import type { Stat as ProtocolStat } from '@quorate/protocol';

/** The metadata of a znode. zxids and the session id are exact. */
export interface Stat {
  /** zxid of the txn that created the znode. */
  readonly czxid: bigint;
  /** zxid of the last change of its data. */
  readonly mzxid: bigint;
  /** zxid of the last create or delete of a direct child. */
  readonly pzxid: bigint;
  /** Wall clock of the leader at the create, ms since 1970. */
  readonly ctimeMs: number;
  /** Wall clock of the leader at the last change of the data, ms since 1970. */
  readonly mtimeMs: number;
  readonly version: number;
  readonly cversion: number;
  readonly aversion: number;
  /** Session that owns an ephemeral znode, unsigned; 0n for every other kind. */
  readonly ephemeralOwner: bigint;
  /** Length of the data, bytes. */
  readonly dataLength: number;
  readonly numChildren: number;
}

/** Data as it is given: a string is written as UTF-8. */
export type Data = string | Uint8Array;

/** A znode as it was at one position of the history. */
export interface Znode {
  readonly path: string;
  /** The caller's own copy; empty when the data is null. */
  readonly data: Uint8Array;
  /** True when the znode has null instead of data, which is told apart from empty. */
  readonly isNull: boolean;
  readonly stat: Stat;
  /** The data as UTF-8. Throws TypeError when it is not. */
  text(): string;
  /** The data as JSON. Throws SyntaxError when it is not. */
  json<J = unknown>(): J;
}

const EMPTY = new Uint8Array(0);
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });
const encoder = new TextEncoder();

/** Makes a znode. `data` may be a view of a frame: it is copied. */
export function makeZnode(path: string, data: Uint8Array | undefined, stat: ProtocolStat): Znode {
  const own = data === undefined ? EMPTY : data.slice();
  const text = (): string => decoder.decode(own);
  return { path, data: own, isNull: data === undefined, stat, text, json: <J>() => JSON.parse(text()) as J };
}

/** The bytes of `data`; undefined stays undefined, which is null to the ensemble. Throws TypeError for anything else. */
export function toBytes(data: Data | undefined): Uint8Array | undefined {
  if (data === undefined || data instanceof Uint8Array) return data;
  if (typeof data !== 'string') throw new TypeError(`data must be a string or a Uint8Array, not ${typeof data}`);
  return encoder.encode(data);
}
