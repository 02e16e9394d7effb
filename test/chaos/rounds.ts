/** How long tests of single cases go on: short in CI, as long as the case asks for with QUORATE_CHAOS_ROUNDS. */

/** Factor by which rounds are multiplied; 1 without the variable. */
const FACTOR = Number(process.env['QUORATE_CHAOS_ROUNDS'] ?? 1);

/** `count` rounds, times the factor. */
export function rounds(count: number): number[] {
  return Array.from({ length: Math.max(1, Math.round(count * FACTOR)) }, (_, i) => i);
}

/** A fresh folder's name for one ensemble of a test. */
export function folderFor(name: string): string {
  return `/tmp/quorate-chaos-${process.pid}-${name}-${Math.round(performance.now())}`;
}

/** Timeouts as the cases have them; the short ones of episodes would show the machine's pauses. */
export const CALM: readonly string[] = [
  ...['--tick-ms', '500', '--sync-timeout-ms', '3000', '--heartbeat-ms', '250', '--init-timeout-ms', '10000'],
  ...['--session-timeout-min-ms', '1000', '--session-timeout-max-ms', '60000', '--stale-read-max-ms', '30000'],
];
