#!/usr/bin/env node
// The `quorate` command. The program is in ../dist, which the build makes.
import { main } from '../dist/main.js';

await main(process.argv.slice(2));
