/** Flags that a command does not know, with the one that was meant: yargs refuses them too, but suggests nothing. */
import { flagName, nearest } from '@quorate/server/config';

/** Flags that every command has. */
const COMMON = ['help', 'h', 'version'];

/** What is wrong with the arguments of a command that takes flags only; undefined when nothing is. */
export function argumentFault(flags: Readonly<Record<string, unknown>>, known: readonly string[]): string | undefined {
  const extra = Array.isArray(flags['_']) ? flags['_'].slice(1) : [];
  if (extra.length > 0) return `Unexpected argument ${String(extra[0])}; only flags are taken`;
  for (const name of Object.keys(flags)) {
    // yargs hands each flag over under two names: as written, and in camel case.
    const flag = flagName(name);
    if (name === '_' || name === '$0' || known.includes(flag) || COMMON.includes(flag)) continue;
    const near = nearest(flag, known);
    return `Unknown flag --${flag}${near === undefined ? '' : `; did you mean --${near}?`}`;
  }
  return undefined;
}
