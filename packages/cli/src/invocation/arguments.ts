/**
 * Arguments that yargs would misread: it takes a lone `-` for an empty option, and loses what comes after `--`. They go
 * through it marked with a NUL, which no argument of a process can have.
 */
const MARK = '\0';

/** Marks `-`, and everything after `--`, which is dropped itself. */
export function protect(args: readonly string[]): string[] {
  const end = args.indexOf('--');
  const before = end < 0 ? args : args.slice(0, end);
  const after = end < 0 ? [] : args.slice(end + 1);
  return [...before.map((arg) => (arg === '-' ? MARK + arg : arg)), ...after.map((arg) => MARK + arg)];
}

/** Takes the marks off again, in every value of what yargs has read. */
export function unprotect(flags: Record<string, unknown>): void {
  for (const [name, value] of Object.entries(flags)) {
    if (typeof value === 'string') flags[name] = plain(value);
    else if (Array.isArray(value))
      flags[name] = value.map((one: unknown) => (typeof one === 'string' ? plain(one) : one));
  }
}

function plain(text: string): string {
  return text.startsWith(MARK) ? text.slice(MARK.length) : text;
}
