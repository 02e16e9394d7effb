/** Strikes at disks. */

import type { DiskDrive } from '../disk-drive.ts';
import type { Hands, Strikes } from './hands.ts';
import type { FaultKind } from './kinds.ts';

export const DISK_STRIKES: Strikes<Extract<FaultKind, 'slowDisk' | 'stalledDisk'>> = {
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
};

function anyDrive({ random, drives }: Hands): DiskDrive {
  return random.pick([...drives.values()]);
}
