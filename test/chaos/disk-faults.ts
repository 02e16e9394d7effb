/** Faults of disks: syncs that are held, writes and syncs that fail, a disk that is full. The shim is test/faulty-disk's. */
import type { Random } from '@quorate/sim';
import type { Rule } from '../faulty-disk/faulty-disk.ts';
import type { Fault } from './fault.ts';

function onDisk(
  kind: string,
  draw: (random: Random) => { readonly about: string; readonly rules: readonly Rule[] },
): Fault {
  return {
    kind,
    begin: (ensemble, random) => {
      const sid = random.chance(0.5) ? (ensemble.leader ?? random.pick(ensemble.sids)) : random.pick(ensemble.sids);
      const { about, rules } = draw(random);
      const member = ensemble.member(sid);
      member.breakDisk(...rules);
      return Promise.resolve({ about: `${sid}: ${about}`, end: () => Promise.resolve(member.mendDisk()) });
    },
  };
}

export const DISK_FAULTS: readonly Fault[] = [
  onDisk('slow disk', (random) => {
    const ms = random.skewed(5, 200);
    return { about: `each sync takes ${ms} ms more`, rules: [{ op: 'sync', what: ms, part: '' }] };
  }),
  onDisk('stalled disk', (random) => {
    const op = random.pick(['sync', 'write'] as const);
    return { about: `no ${op} ends`, rules: [{ op, what: 60_000, part: '' }] };
  }),
  onDisk('disk error', (random) => {
    const op = random.pick(['sync', 'write', 'open'] as const);
    const times = random.pick([0, 1]);
    const after = random.between(0, 20);
    return {
      about: `EIO on ${op} after ${after}, ${times === 0 ? 'always' : 'once'}`,
      rules: [{ op, what: 'EIO', after, times, part: '' }],
    };
  }),
  onDisk('full disk', () => ({
    about: 'ENOSPC',
    rules: [
      { op: 'write', what: 'ENOSPC', part: '' },
      { op: 'open', what: 'ENOSPC', part: '' },
    ],
  })),
];
