#!/usr/bin/env node
// The `quorate` command. The program is in ../dist, which the build makes.
import { existsSync } from 'node:fs';

const program = new URL('../dist/main.js', import.meta.url);
if (existsSync(program)) {
  const { main } = await import(program.href);
  await main(process.argv.slice(2));
} else {
  process.stderr.write('quorate: this checkout is not built yet; run: npm run build\n');
  process.exitCode = 1;
}
