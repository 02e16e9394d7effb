/**
 * Where values come from: flags, then `QUORATE_*` variables, then a YAML file, then the table's default. Each value keeps
 * its origin, so that an error line and `--print-config` can name it. Knows single keys only; see `server-config.ts`.
 */
import { readFileSync } from 'node:fs';
import { parse as parseYaml, YAMLParseError } from 'yaml';
import { ConfigError } from './config-error.ts';
import { environmentName, flagName } from './key.ts';
import { KEY_NAMES, KEYS, type KeyName, type KeyValues } from './key-table.ts';
import { nearest } from './suggest.ts';

/** Variables by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

export interface Sources {
  /** Values of flags by key (`dataDir`), as a parser of command lines hands them over; undefined where not given. */
  readonly flags: Readonly<Record<string, unknown>>;
  readonly environment: Environment;
  /** Path of a YAML file; undefined for none. `QUORATE_CONFIG` names one too. */
  readonly file: string | undefined;
}

/** The values, and for each key in words where its value came from. */
export interface Gathered {
  readonly values: KeyValues;
  readonly origins: Readonly<Record<KeyName, string>>;
}

interface Raw {
  readonly value: unknown;
  readonly origin: string;
}

/** Gathers every key from its strongest source. Throws ConfigError for an unknown key or a value that is not allowed. */
export function gather(sources: Sources): Gathered {
  const file = sources.file ?? sources.environment['QUORATE_CONFIG'];
  const fileValues = file === undefined ? new Map<string, unknown>() : readFile(file);
  refuseUnknownVariables(sources.environment);
  const values: Record<string, unknown> = {};
  const origins: Record<string, string> = {};
  for (const name of KEY_NAMES) {
    const raw = strongest(name, sources, fileValues, file);
    values[name] = raw === undefined ? KEYS[name].default : parseOne(name, raw);
    origins[name] = raw?.origin ?? 'default';
  }
  return { values: values as KeyValues, origins: origins as Record<KeyName, string> };
}

function strongest(
  name: KeyName,
  { flags, environment }: Sources,
  fileValues: ReadonlyMap<string, unknown>,
  file: string | undefined,
): Raw | undefined {
  const flag = flags[name];
  if (flag !== undefined) return { value: flag, origin: `flag --${flagName(name)}` };
  const variable = environment[environmentName(name)];
  // An empty variable is how compose files and shells write "not set".
  if (variable !== undefined && variable !== '')
    return { value: variable, origin: `environment ${environmentName(name)}` };
  if (fileValues.has(name)) return { value: fileValues.get(name), origin: `${file} key ${name}` };
  return undefined;
}

function parseOne(name: KeyName, raw: Raw): unknown {
  // Given twice, a flag is a list: only the ensemble may be one.
  const value = Array.isArray(raw.value) && name === 'ensemble' ? joinTexts(raw.value) : raw.value;
  const parsed = KEYS[name].parse(value);
  if (typeof parsed === 'object' && 'fault' in parsed) {
    throw new ConfigError(
      `Bad ${name} ${display(raw.value)} (from ${raw.origin}): ${parsed.fault}; must be ${KEYS[name].allowed}`,
    );
  }
  return parsed;
}

function joinTexts(items: readonly unknown[]): unknown {
  return items.every((item) => typeof item === 'string') ? items.join(',') : items;
}

function display(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value);
  return text.length <= 200 ? text : `${text.slice(0, 200)}…`;
}

function readFile(path: string): ReadonlyMap<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    throw new ConfigError(`Cannot read the config file ${path}: ${(error as Error).message}`);
  }
  let parsed: unknown;
  try {
    parsed = parseYaml(text);
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    throw new ConfigError(`Cannot read the config file ${path}: ${error.message.split('\n')[0]?.replace(/:$/, '')}`);
  }
  if (parsed === null || parsed === undefined) return new Map();
  if (typeof parsed !== 'object' || Array.isArray(parsed)) {
    throw new ConfigError(`Cannot read the config file ${path}: it is not a mapping of keys to values`);
  }
  const entries = new Map(Object.entries(parsed));
  for (const key of entries.keys()) {
    if (isKey(key)) continue;
    throw new ConfigError(`Unknown key ${key} in ${path}${didYouMean(key, KEY_NAMES)}`);
  }
  return entries;
}

function isKey(key: string): key is KeyName {
  return Object.hasOwn(KEYS, key);
}

/** Variables with our prefix that are read elsewhere: by the client commands. */
const OTHER_VARIABLES = new Set([
  'QUORATE_CONFIG',
  'QUORATE_SERVERS',
  'QUORATE_TIMEOUT',
  'QUORATE_OUTPUT',
  'QUORATE_CONTEXT',
  'QUORATE_AUTH',
  'QUORATE_NO_COLOR',
]);

/** What Kubernetes sets in every pod for a service named `quorate` (or `quorate-...`): not meant for us. */
const SERVICE_LINK = /^QUORATE_(.+_)?(SERVICE_HOST|SERVICE_PORT(_.+)?|PORT(_\d+_(TCP|UDP)(_.+)?)?)$/;

function refuseUnknownVariables(environment: Environment): void {
  const known = new Set(KEY_NAMES.map(environmentName));
  for (const name of Object.keys(environment)) {
    if (!name.startsWith('QUORATE_') || known.has(name) || OTHER_VARIABLES.has(name) || SERVICE_LINK.test(name))
      continue;
    throw new ConfigError(`Unknown environment variable ${name}${didYouMean(name, known)}`);
  }
}

function didYouMean(word: string, candidates: Iterable<string>): string {
  const near = nearest(word, candidates);
  return near === undefined ? '' : `; did you mean ${near}?`;
}
