/**
 * The flag --version of commands that write only when the znode has that version. In these commands it takes the place
 * of the program's own --version.
 */
import type { Argv } from 'yargs';
import { UsageError } from './failure.ts';

/** Adds the flag. */
export function withVersionFlag<F>(argv: Argv<F>): Argv<F & { version: string | undefined }> {
  return argv.version(false).option('version', {
    type: 'string',
    requiresArg: true,
    describe: 'Do it only when the znode has this version',
  });
}

/** The version that `text` names. Throws UsageError unless it is a 32-bit integer. */
export function expectedVersion(text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const version = /^-?\d{1,10}$/.test(text) ? Number(text) : Number.NaN;
  if ((version | 0) !== version) throw new UsageError(`--version is ${JSON.stringify(text)}, which is not a version`);
  return version;
}
