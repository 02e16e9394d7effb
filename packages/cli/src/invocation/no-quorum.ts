/**
 * Why no session could be opened, as the members themselves tell it: opening one is a write, which takes a quorum. A member
 * that has none cannot refuse it sooner than its deadline, but says at once how it stands.
 */
import type { CoordinationError } from '@quorate/client';

/** How long the members are asked for the reason, ms. */
const ASK_MS = 1_000;

/** Why no session can be opened, when members answer and none of them has a quorum. */
export async function missingQuorum(servers: string): Promise<string | undefined> {
  const { listServers, memberStatus } = await import('@quorate/client');
  const asked = await Promise.allSettled(
    listServers(servers).map((server) => memberStatus(server, { timeoutMs: ASK_MS })),
  );
  const answered = asked.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []));
  if (answered.length === 0 || answered.some(({ hasQuorum }) => hasQuorum)) return undefined;
  const places = answered.map(({ sid, role }) => `member ${sid} is ${role}`).join(', ');
  return `The ensemble has no quorum (${places}), and so no session can be opened`;
}

/** The same failure with the reason, when it is the missing quorum; else the failure as it is. */
export async function explainNoSession(error: CoordinationError, servers: string): Promise<Error> {
  const why = await missingQuorum(servers);
  if (why === undefined) return error;
  const { CoordinationError: Failure } = await import('@quorate/client');
  return new Failure('UNAVAILABLE', `${why}; nothing was read or written`, { cause: error });
}
