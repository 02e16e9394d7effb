/**
 * Makes trouble while the run's faults last: crashes, pauses, cuts, partitions, slow disks, each kind at its own rate. It
 * undoes all of it at the heal. It knows the members and the network from outside only; whom it strikes and when comes
 * from the seed.
 */
import type { PeerAction } from '@quorate/core';
import type { Sid } from '@quorate/protocol';
import type { DiskDrive } from './disk-drive.ts';
import type { FaultKnobs } from './knobs.ts';
import type { Member } from './member.ts';
import type { Network } from './network.ts';
import type { Random } from './random.ts';
import type { Schedule } from './schedule.ts';

export interface NemesisOptions {
  readonly schedule: Schedule;
  readonly random: Random;
  readonly knobs: FaultKnobs;
  readonly network: Network;
  readonly members: ReadonlyMap<Sid, Member>;
  readonly drives: ReadonlyMap<Sid, DiskDrive>;
  readonly note: (what: string) => void;
}

/** Moments at which a crash tells most: right before or right after an action like these. */
const MOMENTS: Readonly<Record<string, (action: PeerAction) => boolean>> = {
  saveEpochs: (action) => action.kind === 'persist' && action.command.kind === 'saveEpochs',
  truncate: (action) => action.kind === 'persist' && action.command.kind === 'truncate',
  append: (action) => action.kind === 'persist' && action.command.kind === 'append',
  install: (action) => action.kind === 'persist' && action.command.kind.startsWith('install'),
  installCommit: (action) => action.kind === 'persist' && action.command.kind === 'installCommit',
  purge: (action) => action.kind === 'persist' && action.command.kind === 'purgeLog',
  checkpoint: (action) => action.kind === 'checkpointPut' || action.kind === 'checkpointCommit',
  snapshot: (action) => action.kind === 'openState' || action.kind === 'sendState',
  newLeader: (action) => action.kind === 'send' && action.message.kind === 'newLeader',
  ackNewLeader: (action) => action.kind === 'send' && action.message.kind === 'ackNewLeader',
  ackEpoch: (action) => action.kind === 'send' && action.message.kind === 'ackEpoch',
  leaderInfo: (action) => action.kind === 'send' && action.message.kind === 'leaderInfo',
  upToDate: (action) => action.kind === 'send' && action.message.kind === 'upToDate',
  propose: (action) => action.kind === 'send' && action.message.kind === 'propose',
  ack: (action) => action.kind === 'send' && action.message.kind === 'ack',
  commit: (action) => action.kind === 'send' && action.message.kind === 'commit',
  forward: (action) => action.kind === 'send' && action.message.kind === 'forward',
  answer: (action) => action.kind === 'answer',
  sessionReady: (action) => action.kind === 'sessionReady',
};

export class Nemesis {
  readonly #options: NemesisOptions;
  readonly #sids: readonly Sid[];
  #isOver = false;
  /** What must be undone at the heal. */
  readonly #undo = new Set<() => void>();

  constructor(options: NemesisOptions) {
    this.#options = options;
    this.#sids = [...options.members.keys()];
  }

  start(): void {
    const { knobs } = this.#options;
    this.#every(knobs.crashUs, () => this.#crash(this.#anyUp()));
    this.#every(knobs.aimedCrashUs, () => this.#aim());
    this.#every(knobs.crashAllUs, () => {
      for (const sid of this.#sids) this.#crash(this.#options.members.get(sid));
    });
    this.#every(knobs.stopUs, () => this.#stop());
    this.#every(knobs.pauseUs, () => this.#pause());
    this.#every(knobs.severUs, () => this.#sever());
    this.#every(knobs.partitionUs, () => this.#partition());
    this.#every(knobs.oneWayUs, () => this.#oneWay());
    this.#every(knobs.slowDiskUs, () => this.#slowDisk());
  }

  /** A member is down: it comes back after a while, at once when faults are over. */
  down(member: Member): void {
    const { schedule, random, knobs } = this.#options;
    const back = (): void => {
      if (this.#undo.delete(back) && !member.isUp) member.start();
    };
    this.#undo.add(back);
    schedule.after(this.#isOver ? 1 : random.wait(knobs.downUs), back);
  }

  /** Ends all faults: nothing is cut, nobody is paused or down. */
  heal(): void {
    this.#isOver = true;
    for (const undo of [...this.#undo]) undo();
    this.#undo.clear();
    for (const member of this.#options.members.values()) {
      if (!member.isUp) member.start();
      member.aimAt(
        () => false,
        () => {},
      );
      member.crashAfter(Infinity);
    }
  }

  #every(meanUs: number, strike: () => void): void {
    if (meanUs === 0) return;
    this.#options.schedule.after(this.#options.random.wait(meanUs), () => {
      if (this.#isOver) return;
      strike();
      this.#every(meanUs, strike);
    });
  }

  /** Undoes something after a while, or at the heal. */
  #forAWhile(undo: () => void, meanUs = this.#options.knobs.lastsUs): void {
    const { schedule, random } = this.#options;
    const once = (): void => {
      if (this.#undo.delete(once)) undo();
    };
    this.#undo.add(once);
    schedule.after(random.wait(meanUs), once);
  }

  #anyUp(): Member | undefined {
    const up = [...this.#options.members.values()].filter((member) => member.isUp);
    return up.length === 0 ? undefined : this.#options.random.pick(up);
  }

  #leader(): Member | undefined {
    return [...this.#options.members.values()].find((member) => member.status?.role === 'leading');
  }

  #crash(member: Member | undefined): void {
    if (member?.isUp !== true) return;
    const power = this.#options.random.chance(0.6);
    this.#options.note(`crash of member ${member.sid}${power ? ', power lost' : ''}`);
    member.crash(power);
    this.down(member);
  }

  /** Waits for a chosen kind of action at one member; then crashes it a few actions later, or the leader at once. */
  #aim(): void {
    const { random, note } = this.#options;
    const member = this.#anyUp();
    const moment = random.pick(Object.keys(MOMENTS));
    const aim = MOMENTS[moment];
    if (member === undefined || aim === undefined) return;
    const atLeader = random.chance(0.25);
    const actions = random.pick([0, 0, 1, 1, 2, 3, 8]);
    member.aimAt(aim, () => {
      if (this.#isOver) return;
      note(`aimed crash at ${moment} of member ${member.sid}: ${atLeader ? 'the leader' : `${actions} actions later`}`);
      const leader = this.#leader();
      if (atLeader && leader !== undefined && leader !== member) this.#crash(leader);
      else member.crashAfter(actions);
    });
  }

  /** As an operator does it: the leader as often as any other. */
  #stop(): void {
    const { random, note } = this.#options;
    const member = random.chance(0.4) ? this.#leader() : this.#anyUp();
    if (member === undefined) return;
    note(`member ${member.sid} is told to stop`);
    member.stop();
  }

  #pause(): void {
    const { random, note } = this.#options;
    const member = random.chance(0.4) ? this.#leader() : this.#anyUp();
    if (member === undefined) return;
    note(`pause of member ${member.sid}`);
    member.pause();
    this.#forAWhile(() => {
      note(`member ${member.sid} goes on`);
      member.resume();
    }, this.#options.knobs.outlastsUs);
  }

  #sever(): void {
    const [a, b] = this.#options.random.shuffle(this.#sids);
    if (a === undefined || b === undefined) return;
    this.#options.note(`link ${a}-${b} broken`);
    this.#options.network.sever(a, b);
  }

  /** Splits the members in two; connections across break at once or only fall silent. */
  #partition(): void {
    const { random, network, note, knobs } = this.#options;
    const leader = random.chance(0.4) ? this.#leader()?.sid : undefined;
    const others = random.shuffle(this.#sids).filter((sid) => sid !== leader);
    const sids = leader === undefined ? others : [leader, ...others];
    // A leader that is cut off is most often in the smaller part.
    const size = random.between(1, leader === undefined ? sids.length - 1 : Math.ceil(sids.length / 2) - 1);
    const [here, there] = [sids.slice(0, size), sids.slice(size)];
    const breaks = random.chance(0.5);
    note(`partition [${here.join()}] from [${there.join()}], ${breaks ? 'links break' : 'silent'}`);
    for (const a of here) for (const b of there) this.#cut(a, b, breaks);
    this.#forAWhile(() => {
      note(`partition [${here.join()}] from [${there.join()}] ends`);
      // A leader that is lost right then: those who come back meet one that knows nothing of what they missed.
      if (!this.#isOver && random.chance(0.3)) this.#crash(this.#leader());
      for (const a of here)
        for (const b of there) {
          network.unblock(a, b);
          network.unblock(b, a);
          // What was silent for long has broken, or goes on with all that waited.
          if (random.chance(0.5)) network.sever(a, b);
        }
    }, knobs.outlastsUs);
  }

  #cut(a: Sid, b: Sid, breaks: boolean): void {
    const { network } = this.#options;
    if (breaks) network.sever(a, b);
    network.block(a, b);
    network.block(b, a);
  }

  /** One direction falls silent. */
  #oneWay(): void {
    const { random, network, note } = this.#options;
    const [from, to] = random.shuffle(this.#sids);
    if (from === undefined || to === undefined) return;
    note(`nothing gets from ${from} to ${to}`);
    network.block(from, to);
    this.#forAWhile(() => {
      network.unblock(from, to);
      if (random.chance(0.5)) network.sever(from, to);
    });
  }

  #slowDisk(): void {
    const { random, drives, note } = this.#options;
    const drive = drives.get(random.pick(this.#sids));
    if (drive === undefined) return;
    drive.slowness = random.between(5, 50);
    note(`disk of member ${drive.sid} slow by ${drive.slowness}`);
    this.#forAWhile(() => {
      drive.slowness = 1;
    });
  }
}
