/** A store under load, for what shows only after much was written: appends, a checkpoint, a purge, round after round. */
import { join } from 'node:path';
import { Rig, z } from './bench-rig.ts';
import { workPlace } from './damage-folder.ts';
import { levelHarnessAt } from './level-harness.ts';

export interface AppendLoad {
  readonly directory: string;
  /** Bytes of payloads so far. */
  readonly writtenBytes: number;
  /** Appends, writes a checkpoint at the end of them, purges what is before it. */
  round(size: { readonly entries: number; readonly entryBytes: number; readonly stateBytes: number }): Promise<void>;
  /** Opens the folder anew. Returns how many bytes recovery read: state and log. */
  reopen(): Promise<number>;
  close(): Promise<void>;
}

export async function appendLoad(): Promise<AppendLoad> {
  const directory = join(await workPlace(), 'member');
  const harness = levelHarnessAt(directory);
  let rig = await Rig.open(harness);
  await rig.epochs(1);
  let counter = 0;
  let writtenBytes = 0;
  return {
    directory,
    get writtenBytes() {
      return writtenBytes;
    },
    async round({ entries, entryBytes, stateBytes }) {
      const payload = Buffer.alloc(entryBytes, counter);
      for (let i = 0; i < entries; i++) {
        await rig.done({ kind: 'append', records: [{ zxid: z(1, ++counter), payload }], committed: z(1, 1) });
        writtenBytes += entryBytes;
      }
      // One half is overwritten each time, the other half only now and then.
      const keys = [0, 1 + (counter % 3)];
      const records = keys.map((key) => ({
        key: Buffer.from(`n${key}`),
        value: Buffer.alloc(stateBytes / 2, counter),
      }));
      await rig.checkpoint(z(1, counter), records);
      await rig.done({ kind: 'purgeLog', through: z(1, counter) });
    },
    async reopen() {
      rig = await rig.reopen();
      const { state, log } = rig.recovered;
      return [...state.values(), ...log.values()].reduce((sum, text) => sum + text.length, 0);
    },
    close: () => rig.close(),
  };
}
