/** `quorate serve` as the command line knows it. What it does is loaded when it is called: other commands need none of it. */
import type { CommandModule } from 'yargs';

export const serveCommand: CommandModule = {
  command: 'serve',
  describe: 'Run one member: standalone, or of the ensemble that --ensemble lists',
  builder: async (yargs) => (await import('./serve-main.ts')).buildServe(yargs),
  handler: async (flags) => (await import('./serve-main.ts')).serve(flags),
};
