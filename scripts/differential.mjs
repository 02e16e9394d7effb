// The command: `node scripts/differential.mjs --ports A,B --sequences N --from S`. The same seeded requests to two ZooKeeper ports, one of
// them a real one; prints where the answers differ. Runs the sources of test/differential through Vite. Starts no server.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const config = { root, configFile: false, logLevel: 'error', oxc: { target: 'node20' } };
const { module } = await runnerImport(join(root, 'test/differential/main.ts'), config);
process.exit(await module.main(process.argv.slice(2)));
