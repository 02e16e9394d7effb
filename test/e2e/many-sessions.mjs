/**
 * A host of many clients that goes down at one moment: opens sessions by unary calls, some ephemerals in each, says at the end
 * once more that every one of them lives, and ends. Arguments: sessions, ephemerals of each, timeout in ms, members' addresses.
 * Prints how long the last round took, ms: no session is older than that when the process ends.
 */
import { Client, credentials } from '@grpc/grpc-js';
import { loadProtos, serviceOf } from '@quorate/protocol/grpc';

const [sessions, ephemerals, timeoutMs, ...addresses] = process.argv.slice(2);
/** Calls at a time. */
const AT_ONCE = 64;
const protos = loadProtos();
const clients = addresses.map((address) => new Client(address, credentials.createInsecure()));

function call(i, service, method, request) {
  const { path, requestSerialize, responseDeserialize } = serviceOf(protos, `quorate.v1.${service}`)[method];
  const options = { deadline: Date.now() + 60_000 };
  return new Promise((resolve, reject) => {
    const answer = (error, response) => (error === null ? resolve(response) : reject(error));
    clients[i % clients.length].makeUnaryRequest(path, requestSerialize, responseDeserialize, request, options, answer);
  });
}

async function each(action) {
  let next = 0;
  const worker = async () => {
    for (let i = next++; i < Number(sessions); i = next++) await action(i);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}

const open = [];
await each(async (i) => {
  const { session } = await call(i, 'SessionService', 'Open', { sessionTimeoutMs: Number(timeoutMs) });
  open[i] = session;
  for (let n = 0; n < Number(ephemerals); n++) {
    await call(i, 'ZnodeService', 'Create', { path: `/e/${i}-${n}`, mode: 'CREATE_MODE_EPHEMERAL', session });
  }
});
const began = performance.now();
await each((i) => call(i, 'SessionService', 'KeepAlive', { session: open[i] }));
process.stdout.write(`${Math.round(performance.now() - began)}\n`, () => process.exit(0));
