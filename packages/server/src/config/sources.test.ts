/** Flags, environment, files: precedence, origins, and one clear line for every mistake. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { environmentName, flagName } from './key.ts';
import { KEY_NAMES, KEYS } from './key-table.ts';
import { describeConfig, resolveConfig } from './server-config.ts';
import type { Sources } from './sources.ts';

let folder: string;

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'quorate-config-'));
});

afterEach(() => {
  rmSync(folder, { recursive: true });
});

function file(text: string): string {
  const path = join(folder, 'quorate.yaml');
  writeFileSync(path, text);
  return path;
}

function resolve(sources: Partial<Sources>) {
  return resolveConfig({ flags: {}, environment: {}, file: undefined, ...sources });
}

describe('precedence', () => {
  it('takes a flag before the environment, that before the file, that before the default', () => {
    const path = file('grpcPort: 3\nadminPort: 3\npeerPort: 3\n');
    const config = resolve({
      file: path,
      flags: { grpcPort: 1 },
      environment: { QUORATE_GRPC_PORT: '2', QUORATE_ADMIN_PORT: '2' },
    });
    expect(config.ports).toEqual({ zookeeper: 2181, grpc: 1, peer: 3, admin: 2 });
  });

  it('reads the file that QUORATE_CONFIG names', () => {
    expect(resolve({ environment: { QUORATE_CONFIG: file('sid: 9\n') } }).sid).toBe(9);
  });

  it('takes an empty variable as not set', () => {
    expect(resolve({ environment: { QUORATE_SID: '' } }).sid).toBe(1);
  });

  it('trims blanks and line ends around numbers (C108)', () => {
    expect(resolve({ environment: { QUORATE_SID: '7\n' } }).sid).toBe(7);
  });

  it('says for each key where its value came from', () => {
    const shown = describeConfig({ flags: { sid: 4 }, environment: { QUORATE_BIND: '::1' }, file: undefined });
    expect(shown).toContain('sid: 4 # flag --sid');
    expect(shown).toContain('bind: "::1" # environment QUORATE_BIND');
    expect(shown).toContain('grpcPort: 2281 # default');
  });
});

describe('a switch', () => {
  it('is true as a flag without a value, and true or false everywhere', () => {
    const bootstrap = (sources: Partial<Sources>): boolean => resolve(sources).bootstrap;
    expect(bootstrap({})).toBe(false);
    expect(bootstrap({ flags: { bootstrap: '' } })).toBe(true);
    expect(bootstrap({ flags: { bootstrap: 'false' } })).toBe(false);
    expect(bootstrap({ environment: { QUORATE_BOOTSTRAP: 'true' } })).toBe(true);
    expect(bootstrap({ file: file('bootstrap: true') })).toBe(true);
    expect(() => bootstrap({ flags: { bootstrap: 'yes' } })).toThrow(
      'Bad bootstrap "yes" (from flag --bootstrap): it is neither; must be true or false',
    );
  });
});

describe('mistakes', () => {
  it.each([
    ['abc', 'it is not a whole number'],
    ['0', 'it is out of range'],
    ['255', 'it is out of range'],
    ['256', 'it is out of range'],
    ['1.5', 'it is not a whole number'],
    ['0x1', 'it is not a whole number'],
  ])('refuses the sid %s, naming value, origin and range (C108)', (value, why) => {
    expect(() => resolve({ environment: { QUORATE_SID: value } })).toThrow(
      `Bad sid ${JSON.stringify(value)} (from environment QUORATE_SID): ${why}; must be a whole number in 1..254`,
    );
  });

  it('suggests the key that an unknown one in a file may have meant', () => {
    const path = file('datadir: /x\n');
    expect(() => resolve({ file: path })).toThrow(`Unknown key datadir in ${path}; did you mean dataDir?`);
  });

  it('suggests the variable that an unknown one may have meant', () => {
    expect(() => resolve({ environment: { QUORATE_DATADIR: '/x' } })).toThrow(
      'Unknown environment variable QUORATE_DATADIR; did you mean QUORATE_DATA_DIR?',
    );
  });

  it('passes over variables of the client commands and those that Kubernetes sets for a service', () => {
    const environment = {
      QUORATE_SERVERS: 'a:2281',
      QUORATE_SERVICE_HOST: '10.0.0.1',
      QUORATE_PORT: 'tcp://10.0.0.1:2281',
      QUORATE_PORT_2281_TCP_ADDR: '10.0.0.1',
      QUORATE_PEERS_SERVICE_PORT_GRPC: '2281',
      HOME: '/root',
    };
    expect(resolve({ environment }).sid).toBe(1);
  });

  it.each([
    ['a list', '- 1\n', 'it is not a mapping'],
    ['bad YAML', 'sid: [1\n', 'Flow sequence'],
    ['a key given twice', 'sid: 1\nsid: 2\n', 'Map keys must be unique'],
  ])('refuses %s in one line', (_, text, why) => {
    const path = file(text);
    let message = '';
    try {
      resolve({ file: path });
    } catch (error) {
      message = (error as Error).message;
    }
    expect(message).toContain(`Cannot read the config file ${path}`);
    expect(message).toContain(why);
    expect(message).not.toContain('\n');
  });

  it('names a config file that is not there', () => {
    expect(() => resolve({ file: '/nowhere/q.yaml' })).toThrow('Cannot read the config file /nowhere/q.yaml: ENOENT');
  });
});

describe('the table', () => {
  it('has flags and variables made mechanically from the key, each once', () => {
    expect(flagName('sessionTimeoutMinMs')).toBe('session-timeout-min-ms');
    expect(environmentName('sessionTimeoutMinMs')).toBe('QUORATE_SESSION_TIMEOUT_MIN_MS');
    expect(new Set(KEY_NAMES.map(flagName)).size).toBe(KEY_NAMES.length);
  });

  it('allows each of its own defaults', () => {
    for (const name of KEY_NAMES) {
      const value = KEYS[name].default;
      if (value !== undefined) expect(KEYS[name].parse(value), name).toEqual(value);
    }
  });
});
