// Says whether the member in this container is alive: asks its admin port, exits 0 or 1. Part of the image.
// Asks /livez, never for a quorum: an orchestrator that restarts unhealthy containers must not kill the survivors of a lost quorum.
const port = process.env.QUORATE_ADMIN_PORT || '2481';
try {
  const answer = await fetch(`http://127.0.0.1:${port}/livez`, { signal: AbortSignal.timeout(4000) });
  const text = (await answer.text()).trim();
  process.stdout.write(`${answer.status} ${text}\n`);
  process.exit(answer.ok ? 0 : 1);
} catch (error) {
  process.stderr.write(`No answer from the admin port ${port}: ${error.message}\n`);
  process.exit(1);
}
