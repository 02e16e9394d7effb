/** What a member of a test's ensemble wrote into its log. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Names of the log lines of a member, in order. Lines that are no log lines are left out. */
export function told(data: string, sid: number): string[] {
  const text = readFileSync(join(data, `member-${sid}.log`), 'utf8');
  return text.split('\n').flatMap((line) => (line.startsWith('{') && line.endsWith('}') ? [nameOf(line)] : []));
}

function nameOf(line: string): string {
  return String((JSON.parse(line) as { msg: unknown }).msg);
}
