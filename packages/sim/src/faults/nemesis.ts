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
  readonly random: Random;
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
    this.sids = [...options.members.keys()];
  }

  start(): void {
    for (const kind of FAULT_KINDS) this.#every(this.knobs.everyUs[kind], () => STRIKES[kind](this));
  }

  down(member: Member): void {
    const back = (): void => {
      if (this.#undo.delete(back) && !member.isUp) member.start();
    };
    this.#undo.add(back);
    this.schedule.after(this.isOver ? 1 : this.random.wait(this.knobs.downUs), back);
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
    const once = (): void => {
      if (this.#undo.delete(once)) undo();
    };
    this.#undo.add(once);
    this.schedule.after(this.random.wait(meanUs), once);
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

  #every(meanUs: number, strike: () => void): void {
    if (meanUs === 0) return;
    this.schedule.after(this.random.wait(meanUs), () => {
      if (this.isOver) return;
      strike();
      this.#every(meanUs, strike);
    });
  }
}
