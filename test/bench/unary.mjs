/** The unary API as any gRPC client sees it: stubs made from the protos at run time, no session. */

import { fileURLToPath } from 'node:url';
import { credentials, loadPackageDefinition } from '@grpc/grpc-js';
import { loadSync } from '@grpc/proto-loader';

const protos = fileURLToPath(new URL('../../protos', import.meta.url));
const definition = loadPackageDefinition(
  loadSync('quorate/v1/znode_service.proto', { includeDirs: [protos], longs: BigInt, defaults: true }),
);

/** A client of one member with the calls that the benchmark makes. */
export function unaryClient(address, data) {
  const stub = new definition.quorate.v1.ZnodeService(address, credentials.createInsecure());
  const call = (method, request) =>
    new Promise((resolve, reject) =>
      stub[method](request, (error, response) => (error ? reject(error) : resolve(response))),
    );
  const value = Buffer.from(data);
  return {
    set: (key) => call('SetData', { path: `/bench/k${key}`, data: value }),
    get: (key) => call('GetData', { path: `/bench/k${key}` }),
    close: () => stub.close(),
  };
}
