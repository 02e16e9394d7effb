/**
 * Why no session could be opened, as the members themselves tell it: opening one is a write, which takes a quorum. A member
 * that has none cannot refuse it sooner than its deadline, but says at once how it stands.
 */
import type { CoordinationError } from '@quorate/client';

/** How long the members are asked for the reason, ms. */
const ASK_MS = 1_000;

/** The same failure with the reason, when members answer and none of them has a quorum; else the failure as it is. */
export async function explainNoSession(error: CoordinationError, servers: string): Promise<Error> {
  const { CoordinationError: Failure, listServers, memberStatus } = await import('@quorate/client');
  const asked = await Promise.allSettled(
    listServers(servers).map((server) => memberStatus(server, { timeoutMs: ASK_MS })),
  );
  const answered = asked.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (answered.length === 0 || answered.some(({ hasQuorum }) => hasQuorum)) return error;
  const places = answered.map(({ sid, role }) => `member ${sid} is ${role}`).join(', ');
  const message = `The ensemble has no quorum (${places}), and so no session can be opened; nothing was read or written`;
  return new Failure('UNAVAILABLE', message, { cause: error });
}
