/** The metadata of a znode as clients see it. Source: ZooKeeper `Stat`, reference §5.3. */
import type { SessionId } from './session-id.ts';
import type { Zxid } from './zxid.ts';

export interface Stat {
  /** zxid of the txn that created the znode. */
  readonly czxid: Zxid;
  /** zxid of the last change of its data. */
  readonly mzxid: Zxid;
  /** zxid of the last create or delete of a direct child. */
  readonly pzxid: Zxid;
  /** Wall clock of the leader at the create, ms since 1970. */
  readonly ctimeMs: number;
  /** Wall clock of the leader at the last change of the data, ms since 1970. */
  readonly mtimeMs: number;
  /** Count of data changes, 32-bit signed, wraps past -1. */
  readonly version: number;
  /** Count of creates and deletes of direct children, 32-bit signed. */
  readonly cversion: number;
  /** Count of ACL changes, 32-bit signed. */
  readonly aversion: number;
  /** Session that owns an ephemeral znode; 0 for every other kind. */
  readonly ephemeralOwner: SessionId;
  /** Length of the data in bytes. */
  readonly dataLength: number;
  /** Number of direct children. */
  readonly numChildren: number;
}
