// The command: `npm run sim -- --seeds N --from S`. Needs a build (`npm run build`).
import { parseArguments, runCampaign, USAGE } from '../dist/index.js';

const words = process.argv.slice(2);
if (words.includes('--help')) {
  console.log(USAGE);
  process.exit(0);
}
const options = parseArguments(words);
if (typeof options === 'string') {
  console.error(`${options}\n${USAGE}`);
  process.exit(2);
}
const broken = runCampaign(options, { print: (line) => console.log(line), nowMs: () => performance.now() });
process.exitCode = broken.length === 0 ? 0 : 1;
