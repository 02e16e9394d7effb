/** What a strike has to work with: the run from outside, and the ways to make an end of what it began. */
import type { Sid } from '@quorate/protocol';
import type { DiskDrive } from '../disk-drive.ts';
import type { Member } from '../member.ts';
import type { Network } from '../network.ts';
import type { Random } from '../random.ts';
import type { Schedule } from '../schedule.ts';
import type { FaultKind, FaultKnobs } from './kinds.ts';

export interface Hands {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly knobs: FaultKnobs;
  readonly network: Network;
  readonly voters: readonly Sid[];
  readonly sids: readonly Sid[];
  readonly members: ReadonlyMap<Sid, Member>;
  readonly drives: ReadonlyMap<Sid, DiskDrive>;
  /** True once faults have stopped: then nothing may be begun. */
  readonly isOver: boolean;
  /** A fault has struck, in words. It is counted. */
  struck(kind: FaultKind, what: string): void;
  /** Something about a fault that is worth a line. */
  note(what: string): void;
  /** Undoes something once: after a while of this mean length (default `lastsUs`), or at the heal. */
  forAWhile(undo: () => void, meanUs?: number): void;
  anyUp(): Member | undefined;
  /** A member that believes that it leads. */
  leader(): Member | undefined;
  /** A member that is up: the leader with this chance, when there is one. */
  leaderOrAny(chance: number): Member | undefined;
  /** Ends its run, and starts it again after a while. */
  crash(member: Member, power: boolean): void;
  /** A member is down: it comes back after a while, at once when faults are over. */
  down(member: Member): void;
}

export type Strikes<K extends FaultKind> = Readonly<Record<K, (hands: Hands) => void>>;
