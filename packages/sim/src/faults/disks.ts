/** Strikes at disks. */

import type { DiskDrive } from '../disk-drive.ts';
import type { Hands, Strikes } from './hands.ts';
import type { FaultKind } from './kinds.ts';

export const DISK_STRIKES: Strikes<
  Extract<FaultKind, 'slowDisk' | 'stalledDisk' | 'failedWrite' | 'fullDisk' | 'damagedDisk' | 'emptyDisk'>
> = {
  slowDisk(hands) {
    const drive = anyDrive(hands);
    drive.slowness = hands.random.between(5, 50);
    hands.struck('slowDisk', `disk of member ${drive.sid} slow by ${drive.slowness}`);
    hands.forAWhile(() => {
      drive.slowness = 1;
    });
  },

  stalledDisk(hands) {
    const drive = anyDrive(hands);
    hands.struck('stalledDisk', `disk of member ${drive.sid} stands still`);
    drive.stall();
    hands.forAWhile(() => {
      hands.note(`disk of member ${drive.sid} goes on`);
      drive.goOn();
    }, hands.knobs.outlastsUs);
  },

  failedWrite(hands) {
    const drive = anyDrive(hands);
    if (!drive.works) return;
    hands.struck('failedWrite', `a write to the disk of member ${drive.sid} is to fail`);
    drive.fail('EIO: input/output error', 1);
  },

  fullDisk(hands) {
    const drive = anyDrive(hands);
    if (!drive.works) return;
    hands.struck('fullDisk', `the disk of member ${drive.sid} is full`);
    drive.fail('ENOSPC: no space left on device', Infinity);
    hands.forAWhile(() => {
      hands.note(`there is space on the disk of member ${drive.sid}`);
      drive.mend();
    });
  },

  damagedDisk(hands) {
    const drive = bearableLoss(hands);
    const member = drive === undefined ? undefined : hands.members.get(drive.sid);
    // Killed, with the machine going on: after a loss of power as well nobody can tell the end of the log from a torn one.
    if (drive === undefined || member?.isUp !== true) return;
    hands.crash(member, false);
    const how = drive.damage();
    if (how !== undefined) hands.struck('damagedDisk', `disk of member ${drive.sid}: ${how}`);
    loseWitness(hands);
  },

  emptyDisk(hands) {
    const drive = bearableLoss(hands);
    if (drive === undefined) return;
    const member = hands.members.get(drive.sid);
    if (member?.isUp === true) hands.crash(member, true);
    hands.struck('emptyDisk', `member ${drive.sid} gets an empty disk`);
    drive.replace();
    loseWitness(hands);
  },
};

/** Often the leader goes too: then those who are left know what is committed only if whoever lost it is not counted. */
function loseWitness(hands: Hands): void {
  const leader = hands.leader();
  if (leader !== undefined && hands.random.chance(0.6)) hands.crash(leader, hands.random.chance(0.5));
}

/**
 * A disk that the ensemble can bear to lose: with it, a minority of voters at most is without the right to vote. What only
 * the disks of a majority held is lost with them, and no protocol brings it back.
 */
function bearableLoss(hands: Hands): DiskDrive | undefined {
  const { voters, drives } = hands;
  const drive = anyDrive(hands);
  if (!voters.includes(drive.sid)) return drive;
  const without = voters.filter((sid) => sid === drive.sid || drives.get(sid)?.holdsRight !== true);
  return without.length * 2 < voters.length ? drive : undefined;
}

function anyDrive({ random, drives }: Hands): DiskDrive {
  return random.pick([...drives.values()]);
}
