/** Strikes at disks. */

import type { DiskDrive } from '../disk-drive.ts';
import type { Hands, Strikes } from './hands.ts';
import type { FaultKind } from './kinds.ts';

export const DISK_STRIKES: Strikes<Extract<FaultKind, 'slowDisk' | 'stalledDisk' | 'failedWrite' | 'fullDisk'>> = {
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
};

function anyDrive({ random, drives }: Hands): DiskDrive {
  return random.pick([...drives.values()]);
}
