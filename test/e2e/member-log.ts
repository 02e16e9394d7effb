/** What a member of a test's ensemble wrote into its log. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Line extends Readonly<Record<string, unknown>> {
  readonly msg: string;
  readonly level: string;
  /** When it was written, ms since 1970. */
  readonly time: number;
}

/** The log lines of a member, in order, or those of one name. What is no log line is left out. */
export function lines(data: string, sid: number, name?: string): Line[] {
  const text = readFileSync(join(data, `member-${sid}.log`), 'utf8');
  const all = text.split('\n').flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [parsed(line)] : []));
  return name === undefined ? all : all.filter(({ msg }) => msg === name);
}

/** Names of the log lines of a member, in order. */
export function told(data: string, sid: number): string[] {
  return lines(data, sid).map(({ msg }) => msg);
}

function parsed(line: string): Line {
  return JSON.parse(line) as Line;
}
