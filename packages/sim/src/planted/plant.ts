/**
 * A planted fault: a rule of the product broken on purpose, to prove that the checkers bite. It sits at the border of a
 * member and changes what passes there (events in, actions out), so that the product itself has no switches.
 */
import type { LogRecord, Now, PeerAction, PeerEvent, StateRecord } from '@quorate/core';
import type { Sid, Zxid } from '@quorate/protocol';
import type { StatusView } from '../observation.ts';
import type { Random } from '../random.ts';

/** What a plant may know of the member at whose border it sits. */
export interface PlantSite {
  readonly sid: Sid;
  readonly random: Random;
  status(): StatusView;
  /** The first txn after `zxid` in the log that the member has handed to its disk. */
  nextLogged(zxid: Zxid): Zxid | undefined;
  /** Puts an event into the member's queue, behind what is there. */
  inject(event: PeerEvent): void;
}

/** What else a disk holds at the start of a run. */
export interface Recovered {
  /** What was cut from the end of the log. */
  readonly tornTail: string | undefined;
  readonly state: readonly StateRecord[];
}

/** The fault at one run of one member; a new one is made for each. */
export interface Plant {
  /** What the core gets to see instead of `event`. */
  event?(event: PeerEvent, site: PlantSite): readonly PeerEvent[];
  /** What is carried out instead of `action`. Tickets of persist actions must go on rising. */
  action?(action: PeerAction, site: PlantSite): readonly PeerAction[];
  /** The time that the core gets to see with `event`. */
  now?(now: Now, event: PeerEvent, site: PlantSite): Now;
  /** The log as the core gets to read it at its start. */
  recovered?(records: readonly LogRecord[], found: Recovered): readonly LogRecord[];
}

export interface PlantedFault {
  readonly name: string;
  /** The rule that it breaks, in one line. */
  readonly breaks: string;
  /** Disks report syncs that they have not made. */
  readonly hasLyingDisk?: boolean;
  readonly plant: () => Plant;
}
