/** The command line: finds the command, and knows nothing of what it does. */
import yargs from 'yargs';
import { ensembleCommand } from './commands/ensemble.ts';
import { serveCommand } from './commands/serve.ts';

/** Runs the command that `args` name. */
export async function main(args: readonly string[]): Promise<void> {
  await yargs([...args])
    .scriptName('quorate')
    .command(serveCommand)
    .command(ensembleCommand)
    .demandCommand(1)
    .strictCommands()
    .parseAsync();
}
