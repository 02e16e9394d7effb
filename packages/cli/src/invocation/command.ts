/**
 * What all data commands have in common: the shared flags, a session for the time of the command, one result on standard
 * output, one line on standard error when it fails, and the exit code.
 */
import type { CallOptions, Client, Reader } from '@quorate/client';
import type { ArgumentsCamelCase, Argv, CommandModule } from 'yargs';
import { Interrupted, sayFailure, UsageError } from './failure.ts';
import { explainNoSession } from './no-quorum.ts';
import { type Output, SERVERS_DEFAULT, type Settings, type SharedFlags, settle, TIMEOUT_DEFAULT } from './settings.ts';

/** What a command prints: one of these is asked for. */
export interface Result {
  json(): unknown;
  /** With its line ends. Throws when the result cannot be shown as text. */
  text(): string;
  /** Exactly these bytes. Only for commands that offer `-o raw`. */
  raw?(): Uint8Array;
}

/** What is left of the command's time, and its signal, for each of its calls. The time runs from the first of them. */
export type Budget = () => CallOptions & { readonly timeoutMs: number };

export interface DataCommand<F> {
  readonly command: string;
  readonly describe: string;
  /** Further formats beside text and json. */
  readonly outputs?: readonly Output[];
  builder(argv: Argv<SharedFlags>): Argv<SharedFlags & F>;
  /** It only reads: without a quorum it reads without a session. */
  readonly isRead?: false;
  /**
   * Checks the flags, and reads what they name, before anybody is asked: throws UsageError. What it returns does the
   * work in a session. `flags` are as `builder` says.
   */
  prepare(flags: F): (client: Client, budget: Budget) => Promise<Result>;
}

/** A command that only reads. */
export type ReadCommand<F> = Omit<DataCommand<F>, 'isRead' | 'prepare'> & {
  readonly isRead: true;
  prepare(flags: F): (reader: Reader, budget: Budget) => Promise<Result>;
};

/** A command that works in a session, for yargs. */
export function dataCommand<F>(command: DataCommand<F> | ReadCommand<F>): CommandModule<object, SharedFlags & F> {
  return {
    command: command.command,
    describe: command.describe,
    builder: (argv) => command.builder(withSharedFlags(argv, command.outputs ?? [])),
    handler: (flags: ArgumentsCamelCase<SharedFlags & F>) => {
      // yargs hands over what the builder says, and each name in camel case besides; its type hides the first.
      const own = flags as unknown as F;
      return carryOut(flags, async (settings, budget) => {
        if (command.isRead !== true) return inSession(settings, budget, command.prepare(own));
        const { inSessionOrWithout } = await import('./read.ts');
        return inSessionOrWithout(settings, budget, command.prepare(own));
      });
    },
  };
}

/** Adds the shared flags to a command. */
export function withSharedFlags(argv: Argv<object>, outputs: readonly Output[]): Argv<SharedFlags> {
  return argv
    .strict()
    .parserConfiguration({ 'parse-positional-numbers': false, 'duplicate-arguments-array': false })
    .option('servers', {
      type: 'string',
      requiresArg: true,
      describe: `Members to ask, host:port,host:port/chroot (also QUORATE_SERVERS) [default: ${SERVERS_DEFAULT}]`,
    })
    .option('timeout', {
      type: 'string',
      requiresArg: true,
      describe: `Longest time for the command, such as 500ms or 5s (also QUORATE_TIMEOUT) [default: ${TIMEOUT_DEFAULT}]`,
    })
    .option('output', {
      alias: 'o',
      requiresArg: true,
      choices: ['text', 'json', ...outputs],
      default: 'text',
      describe: 'Format of the result',
    });
}

/** Settles the settings, does the work, prints its result, and sets the exit code. */
export async function carryOut(
  flags: SharedFlags,
  work: (settings: Settings, budget: Budget) => Promise<Result>,
): Promise<void> {
  const controller = new AbortController();
  const interrupt = (signal: NodeJS.Signals): void => {
    const interrupted = new Interrupted(signal === 'SIGINT' ? 130 : 143);
    // A second signal does not wait.
    if (controller.signal.aborted) process.exit(interrupted.exitCode);
    controller.abort(interrupted);
  };
  process.on('SIGINT', interrupt).on('SIGTERM', interrupt);
  try {
    const settings = settle(flags, process.env);
    const { signal } = controller;
    let deadlineMs: number | undefined;
    const budget: Budget = () => {
      deadlineMs ??= performance.now() + settings.timeoutMs;
      return { signal, timeoutMs: Math.max(1, Math.ceil(deadlineMs - performance.now())) };
    };
    await print(await work(settings, budget), settings.output);
  } catch (error) {
    process.exitCode = sayFailure(controller.signal.aborted ? controller.signal.reason : error);
  } finally {
    process.off('SIGINT', interrupt).off('SIGTERM', interrupt);
  }
}

/** How a session is waited for. */
interface Opening {
  /** Ends the wait for it. */
  readonly signal?: AbortSignal;
  /** It is there. */
  opened?(): void;
}

/** Does the work in a session of its own. */
export async function inSession(
  settings: Settings,
  budget: Budget,
  work: (client: Client, budget: Budget) => Promise<Result>,
  opening: Opening = {},
): Promise<Result> {
  const { connect, isCode } = await import('@quorate/client');
  const { signal } = opening;
  const options = signal === undefined ? budget() : { ...budget(), signal };
  const client = await connect(settings.servers, options).catch(async (error: unknown) => {
    if (!isCode(error, 'CONNECTION_LOST', 'TIMEOUT', 'UNAVAILABLE')) throw error;
    throw await explainNoSession(error, settings.servers);
  });
  opening.opened?.();
  try {
    return await work(client, budget);
  } finally {
    await client.close();
  }
}

async function print(result: Result, output: Output): Promise<void> {
  switch (output) {
    case 'json':
      return write(`${JSON.stringify(result.json(), undefined, 2)}\n`);
    case 'raw':
      if (result.raw === undefined) throw new UsageError('This command has no raw output');
      return write(result.raw());
    case 'text':
      return write(result.text());
  }
}

/** Resolves when it is written. A reader that has gone is no failure. */
function write(content: string | Uint8Array): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error?: Error | null): void => {
      if (error === undefined || error === null || (error as NodeJS.ErrnoException).code === 'EPIPE') resolve();
      else reject(error);
    };
    process.stdout.once('error', done);
    process.stdout.write(content, (error) => {
      // The listener stays when the write failed: the stream says so once more.
      if (error === undefined || error === null) process.stdout.off('error', done);
      done(error);
    });
  });
}
