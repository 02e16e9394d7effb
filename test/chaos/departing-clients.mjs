/**
 * Sessions whose client is killed: opens some at the members given as arguments, creates ephemerals in each, says so on
 * standard output and waits for its end. Run by a test with node, after a build.
 */
import { connect } from '@quorate/client';

const [name, ...addresses] = process.argv.slice(2);
await Promise.all(
  Array.from({ length: 3 }, async (_, i) => {
    const client = await connect(addresses, { sessionTimeoutMs: 3_000, timeoutMs: 20_000 });
    await Promise.all(
      Array.from({ length: 3 }, (_, j) => client.create(`/e/${name}-${i}-${j}`, '', { mode: 'ephemeral' })),
    ).catch(() => undefined);
    process.stdout.write(`${client.session.id.toString(16)}\n`);
  }),
).catch(() => undefined);
setInterval(() => undefined, 1_000);
