/**
 * Makes trouble while the run's faults last, each kind at its own rate, and undoes all of it at the heal. It knows the
 * members and the network from outside only; whom it strikes and when comes from the seed. What each kind does:
 * members.ts, links.ts, disks.ts.
 */
import type { Sid } from '@quorate/protocol';
import type { DiskDrive } from '../disk-drive.ts';
import type { Member } from '../member.ts';
import type { Network } from '../network.ts';
import type { Random } from '../random.ts';
import type { Schedule } from '../schedule.ts';
import { DISK_STRIKES } from './disks.ts';
import type { Hands, Strikes } from './hands.ts';
import { FAULT_KINDS, type FaultKind, type FaultKnobs } from './kinds.ts';
import { LINK_STRIKES } from './links.ts';
import { MEMBER_STRIKES } from './members.ts';

export interface NemesisOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly knobs: FaultKnobs;
  /** Whether a strike of this name happens, or is left out; see script.ts. */
  readonly takes: (name: string) => boolean;
  readonly network: Network;
  readonly voters: readonly Sid[];
  readonly members: ReadonlyMap<Sid, Member>;
  readonly drives: ReadonlyMap<Sid, DiskDrive>;
  readonly note: (what: string) => void;
  readonly struck: (kind: FaultKind, what: string) => void;
}

const STRIKES: Strikes<FaultKind> = { ...MEMBER_STRIKES, ...LINK_STRIKES, ...DISK_STRIKES };

export class Nemesis implements Hands {
  readonly schedule: Schedule;
  /** That of the strike whose doing this is: to leave one strike out disturbs no other. */
  random: Random;
  readonly knobs: FaultKnobs;
  readonly network: Network;
  readonly voters: readonly Sid[];
  readonly sids: readonly Sid[];
  readonly members: ReadonlyMap<Sid, Member>;
  readonly drives: ReadonlyMap<Sid, DiskDrive>;
  readonly note: (what: string) => void;
  readonly struck: (kind: FaultKind, what: string) => void;
  isOver = false;
  /** What must be undone at the heal. */
  readonly #undo = new Set<() => void>();
  readonly #root: Random;
  readonly #takes: (name: string) => boolean;

  constructor(options: NemesisOptions) {
    ({
      schedule: this.schedule,
      random: this.random,
      knobs: this.knobs,
      network: this.network,
      voters: this.voters,
      members: this.members,
      drives: this.drives,
      note: this.note,
      struck: this.struck,
    } = options);
    this.#root = options.random;
    this.#takes = options.takes;
    this.sids = [...options.members.keys()];
  }

  start(): void {
    for (const kind of FAULT_KINDS) this.#every(kind, 1, this.#root.fork(kind));
  }

  down(member: Member): void {
    const back = (): void => {
      if (this.#undo.delete(back) && !member.isUp) member.start();
    };
    this.#undo.add(back);
    const random = this.#root.fork(`down ${member.sid} ${member.runs}`);
    this.schedule.after(this.isOver ? 1 : random.wait(this.knobs.downUs), back);
  }

  crash(member: Member, power: boolean): void {
    if (!member.isUp) return;
    member.crash(power);
    this.down(member);
  }

  /** Ends all faults: nothing is cut, nobody is paused or down. */
  heal(): void {
    this.isOver = true;
    for (const drive of this.drives.values()) drive.mend();
    for (const undo of [...this.#undo]) undo();
    this.#undo.clear();
    for (const member of this.members.values()) {
      if (!member.isUp) member.start();
      member.aimAt(
        () => false,
        () => {},
      );
      member.crashAfter(Infinity);
    }
  }

  forAWhile(undo: () => void, meanUs = this.knobs.lastsUs): void {
    const { random } = this;
    const once = (): void => {
      if (!this.#undo.delete(once)) return;
      this.random = random;
      undo();
    };
    this.#undo.add(once);
    this.schedule.after(random.wait(meanUs), once);
  }

  anyUp(): Member | undefined {
    const up = [...this.members.values()].filter((member) => member.isUp);
    return up.length === 0 ? undefined : this.random.pick(up);
  }

  leader(): Member | undefined {
    return [...this.members.values()].find((member) => member.status?.role === 'leading');
  }

  leaderOrAny(chance: number): Member | undefined {
    return (this.random.chance(chance) ? this.leader() : undefined) ?? this.anyUp();
  }

  /** Plans the `count`-th strike of a kind, and after it the next. */
  #every(kind: FaultKind, count: number, random: Random): void {
    const meanUs = this.knobs.everyUs[kind];
    if (meanUs === 0) return;
    this.schedule.after(random.wait(meanUs), () => {
      if (this.isOver) return;
      this.random = this.#root.fork(`${kind} ${count}`);
      if (this.#takes(`${kind} ${count}`)) STRIKES[kind](this);
      this.#every(kind, count + 1, random);
    });
  }
}
