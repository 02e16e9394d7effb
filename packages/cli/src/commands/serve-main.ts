/**
 * `quorate serve`: one member in this process, until a signal. What goes wrong before it serves is one line on standard
 * error and exit code 1. A first SIGTERM, SIGINT or SIGHUP lets it finish and exits 0; a second one ends it at once (what
 * was acknowledged is on disk). A parent that spawned it with IPC is told how it stands; when the parent goes, so does it.
 */

import type { Member } from '@quorate/server';
import {
  ConfigError,
  describeConfig,
  flagName,
  KEY_NAMES,
  KEYS,
  type KeyGroup,
  resolveConfig,
  type ServerConfig,
} from '@quorate/server/config';
import type { Argv } from 'yargs';
import type { ChildReport } from './ensemble-report.ts';
import { argumentFault } from './unknown-flags.ts';

/** Values of flags by key, as yargs hands them over. */
export type Flags = Readonly<Record<string, unknown>>;

const EXIT_FAILED = 1;
const SIGNALS = { SIGTERM: 15, SIGINT: 2, SIGHUP: 1 } as const;

/** Every key of the configuration as a flag. */
export function buildServe(yargs: Argv): Argv {
  let built = yargs
    .usage(
      '$0 serve [--KEY VALUE...]\n\nEach key can be a flag, a QUORATE_* variable or a key in a YAML file; the first wins.',
    )
    .parserConfiguration({ 'parse-numbers': false, 'parse-positional-numbers': false, 'boolean-negation': false })
    // Unknown flags are refused by the command itself, which can suggest what was meant.
    .strict(false)
    .option('config', { type: 'string', describe: 'YAML file with keys (also QUORATE_CONFIG)', group: 'Operation:' })
    .option('check-config', { type: 'boolean', describe: 'Check the configuration and exit', group: 'Operation:' })
    .option('print-config', {
      type: 'boolean',
      describe: 'Print every key with its origin and exit',
      group: 'Operation:',
    });
  for (const name of KEY_NAMES) {
    const { help, defaultText, group, isSwitch } = KEYS[name];
    built = built.option(flagName(name), {
      type: 'string',
      requiresArg: !isSwitch,
      describe: `${help} [default: ${defaultText}]`,
      group: `${group satisfies KeyGroup}:`,
    });
  }
  return built;
}

/** Runs a member until a signal. */
export async function serve(flags: Flags): Promise<void> {
  let config: ServerConfig;
  try {
    const fault = argumentFault(flags, [...KEY_NAMES.map(flagName), 'config', 'check-config', 'print-config']);
    if (fault !== undefined) throw new ConfigError(fault);
    const file = typeof flags['config'] === 'string' ? flags['config'] : undefined;
    const sources = { flags, environment: process.env, file };
    config = resolveConfig(sources);
    if (flags['printConfig'] === true) process.stdout.write(describeConfig(sources));
    else if (flags['checkConfig'] === true) process.stdout.write('The configuration is good\n');
    if (flags['printConfig'] === true || flags['checkConfig'] === true) return;
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    return giveUp(error.message);
  }
  await run(config);
}

async function run(config: ServerConfig): Promise<void> {
  const ending = new AbortController();
  let started: Promise<Member | undefined> = Promise.resolve(undefined);
  const end = (code: number): void => {
    if (ending.signal.aborted) process.exit(code);
    ending.abort();
    void started.then(stopAndExit);
  };
  for (const [signal, number] of Object.entries(SIGNALS)) process.on(signal, () => end(128 + number));
  // Whatever nobody expected ends the member: it must not live on half alive (C167).
  process.on('uncaughtException', (error) =>
    giveUp(`Member ${config.sid} cannot go on: ${error.stack ?? error.message}`),
  );
  // Without this listener a parent that goes would leave the member behind.
  process.on('disconnect', () => end(EXIT_FAILED));
  started = start(config, ending.signal);
  await started;
}

async function stopAndExit(member: Member | undefined): Promise<void> {
  await member?.stop();
  if (member?.isDiskHung === true) endForGood();
  process.exit(0);
}

/** An exit waits for calls that hang in the disk, so this is the only end that there is then. */
function endForGood(): void {
  process.kill(process.pid, 'SIGKILL');
}

/** Undefined when `signal` gave it up. What goes wrong ends the process. */
async function start(config: ServerConfig, signal: AbortSignal): Promise<Member | undefined> {
  const { startMember, StartGivenUp } = await import('@quorate/server');
  try {
    const member = await startMember(config, {
      signal,
      onFatal: (reason) => giveUp(`Member ${config.sid} cannot go on: ${reason.split('\n')[0]}`),
      onStatus: ({ role, leader, epoch, serving, hasQuorum }) =>
        report({ kind: 'status', role, leader, epoch, isReady: serving && hasQuorum }),
    });
    report({ kind: 'ports', ports: member.ports });
    const { grpc, peer, admin } = member.ports;
    const peers = config.members.length === 0 ? 'standalone' : `peers ${config.bind}:${peer}`;
    process.stderr.write(
      `Member ${config.sid} listens: gRPC ${config.bind}:${grpc}, ${peers}, admin ${config.adminBind}:${admin}\n`,
    );
    return member;
  } catch (error) {
    if (!(error instanceof StartGivenUp)) giveUp((error as Error).message);
    else if (error.isDiskHung) endForGood();
    return undefined;
  }
}

/** One line, and the end. */
function giveUp(reason: string): void {
  const message = reason.split('\n').join(' ');
  process.stderr.write(`quorate serve: ${message}\n`);
  process.exitCode = EXIT_FAILED;
  if (process.send === undefined || !process.connected) process.exit(EXIT_FAILED);
  // The parent is to read it before the channel closes.
  process.send({ kind: 'failed', message } satisfies ChildReport, () => process.exit(EXIT_FAILED));
}

function report(message: ChildReport): void {
  if (process.connected) process.send?.(message, () => undefined);
}
