/** Says so when the data folder is open to other users of the machine: whoever reads it reads every znode, whatever its ACL (case C125). */
import { stat } from 'node:fs/promises';
import type { Log } from './logging.ts';

/** Rights of the group and of all others. */
const OTHERS = 0o077;

/** One look, after the folder was opened. A folder that this program made is its user's alone. */
export async function warnIfOpenToOthers(directory: string, log: Log): Promise<void> {
  const { mode } = await stat(directory);
  if ((mode & OTHERS) === 0) return;
  const reason = 'Other users of this machine may get at the data, whatever the ACLs say: chmod 700 is enough';
  log.warn('dataFolderOpenToOthers', { directory, mode: (mode & 0o777).toString(8), reason });
}
