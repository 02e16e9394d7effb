/**
 * The command line: finds the command and lets it run; knows nothing of what it does. Bad usage is one line on standard
 * error and exit code 2. Commands import what they need when they run, so that `--help` loads neither gRPC nor LevelDB.
 */
import { readFileSync } from 'node:fs';
import yargs from 'yargs';
import { addCommands } from './commands/index.ts';
import { protect, unprotect } from './invocation/arguments.ts';
import { EXIT, sayFailure, UsageError } from './invocation/failure.ts';

/** Runs the command that `args` name. Sets `process.exitCode`; rejects only when there is a bug. */
export async function main(args: readonly string[]): Promise<void> {
  const parser = addCommands(yargs(protect(args)))
    .scriptName('quorate')
    .locale('en')
    .usage('$0 COMMAND [OPTIONS]\n\nA replicated coordination service: znodes, sessions, an ensemble of members.')
    .demandCommand(1, 'Name a command; quorate --help lists them')
    .strictCommands()
    .version(versionOf())
    .alias('h', 'help')
    .epilogue(EPILOGUE)
    .middleware(unprotect)
    .exitProcess(false)
    .fail((message, error) => {
      throw error ?? new UsageError(message);
    });
  try {
    await parser.parseAsync();
  } catch (error) {
    if (error instanceof UsageError) process.exitCode = sayFailure(error);
    else if (error instanceof Error && error.name === 'YError')
      process.exitCode = sayFailure(new UsageError(error.message));
    else throw error;
  }
}

const EPILOGUE = `Exit codes: ${Object.entries(EXIT)
  .map(([name, code]) => `${code} ${name}`)
  .join(', ')}, 130 and 143 interrupted`;

function versionOf(): string {
  const manifest: unknown = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  return typeof manifest === 'object' && manifest !== null && 'version' in manifest
    ? String(manifest.version)
    : 'unknown';
}
