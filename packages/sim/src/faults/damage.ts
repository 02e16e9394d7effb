/**
 * Ways in which a disk that nobody uses can turn out to be damaged. Each is one that recovery must see, or live with: the
 * shipping recovery reads what is left. Not here: a disk that shows an old state of itself as a whole. One member alone
 * cannot tell, so it is outside the model, as a member that is restored from a backup is: its data folder must be emptied first.
 */
import type { SimDisk } from '@quorate/storage/testing';
import type { Random } from '../random.ts';

type KvPair = ReturnType<SimDisk['pairs']>[number];

/** Damages the disk. Returns how, in words; undefined when there was nothing to damage. */
export function damage(disk: SimDisk, random: Random): string | undefined {
  const how = random.weighted({ flip: 5, tail: 3, hole: 2, lost: 2 });
  const db = how === 'tail' || how === 'hole' ? 'log' : pickDb(disk, random);
  if (db === undefined || !disk.names.includes(db)) return undefined;
  const pairs = disk.pairs(db, new Uint8Array(), undefined);
  const entries = pairs.filter(([key]) => key.length > 1);
  switch (how) {
    case 'flip': {
      const pair = pairs.length === 0 ? undefined : random.pick(pairs);
      if (pair === undefined) return undefined;
      disk.write(db, [{ key: pair[0], value: flipped(pair[1], random) }]);
      return `a bit of database ${db} is wrong`;
    }
    case 'tail':
      return lose(disk, entries.slice(-random.between(1, 3)), 'the end of the log');
    case 'hole':
      return lose(disk, entries.length < 3 ? [] : [random.pick(entries.slice(0, -1))], 'a part of the log');
    case 'lost':
      disk.remove(db);
      return `database ${db} is lost`;
  }
}

function pickDb({ names }: SimDisk, random: Random): SimDisk['names'][number] | undefined {
  return names.length === 0 ? undefined : random.pick(names);
}

function lose(disk: SimDisk, entries: readonly KvPair[], what: string): string | undefined {
  if (entries.length === 0) return undefined;
  disk.write(
    'log',
    entries.map(([key]) => ({ key, value: undefined })),
  );
  return `${what} is lost`;
}

function flipped(value: Uint8Array, random: Random): Uint8Array {
  const copy = Uint8Array.from(value);
  if (copy.length > 0) {
    const at = random.between(0, copy.length - 1);
    copy[at] = (copy[at] as number) ^ (1 << random.between(0, 7));
  }
  return copy;
}
