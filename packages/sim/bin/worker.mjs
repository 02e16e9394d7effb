// One thread of the pool: a seed in, its result out.
import { parentPort } from 'node:worker_threads';
import { runSeedTask } from '../dist/index.js';

parentPort.on('message', (task) => parentPort.postMessage(runSeedTask(task)));
