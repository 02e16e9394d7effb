// Says whether the member in this container is alive: asks its admin port, exits 0 or 1. Part of the image.
// Asks /livez, never for a quorum: an orchestrator that restarts unhealthy containers must not kill the survivors of a lost quorum.
// node:http, because loading fetch takes several times the CPU time of the whole check.
import { get } from 'node:http';

const port = process.env.QUORATE_ADMIN_PORT || '2481';

function fail(reason) {
  process.stderr.write(`No good answer from the admin port ${port}: ${reason}\n`);
  process.exit(1);
}

get({ host: '127.0.0.1', port, path: '/livez', agent: false, timeout: 4000 }, (answer) => {
  if (answer.statusCode !== 200) fail(`status ${answer.statusCode}`);
  process.exit(0);
})
  .on('timeout', () => fail('none within 4 s'))
  .on('error', (error) => fail(error.message));
