// The command: `npm run chaos -- --minutes N`. Runs the sources of test/chaos through Vite, as the tests are. Knows nothing of
// what they do; needs a build (members and clients run as they ship).
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runnerImport } from 'vite';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const config = { root, configFile: false, logLevel: 'error', oxc: { target: 'node20' } };
const { module } = await runnerImport(join(root, 'test/chaos/main.ts'), config);
process.exit(await module.main(process.argv.slice(2)));
