/** The version of this package, for status and logs. */
import { readFileSync } from 'node:fs';

/** As in package.json, which stands one level above both src and dist. */
export const VERSION = String(
  (JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: unknown }).version,
);
