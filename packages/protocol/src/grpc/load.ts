/**
 * Loads the protos with proto-loader: for unary services, reflection and status. About 90 ms at start-up, which is
 * why the client's session stream does without (see `frames`).
 * In the repository the protos are in /protos, in the published package beside dist/.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { loadSync, type PackageDefinition, type ServiceDefinition } from '@grpc/proto-loader';

/** Files of the public API. */
export const PUBLIC_PROTOS = [
  'quorate/v1/error.proto',
  'quorate/v1/znode_service.proto',
  'quorate/v1/session_service.proto',
  'quorate/v1/cluster_service.proto',
  'quorate/v1/watch_service.proto',
] as const;

/** Files of the protocol between members. */
export const PEER_PROTOS = ['quorate/peer/v1/peer.proto'] as const;

const loaded = new Map<string, PackageDefinition>();

/**
 * Loads `files`, once in a process. Throws Error when the protos are not where they should be.
 * 64-bit values are bigint, enums their names, absent messages null, absent optional scalars missing.
 */
export function loadProtos(files: readonly string[] = PUBLIC_PROTOS): PackageDefinition {
  const key = files.join(' ');
  const known = loaded.get(key);
  if (known !== undefined) return known;
  const definition = loadSync([...files], {
    includeDirs: [protoFolder()],
    keepCase: false,
    longs: BigInt,
    enums: String,
    defaults: true,
    oneofs: true,
  });
  loaded.set(key, definition);
  return definition;
}

/** The service `name` of a loaded definition, with its full name. Throws Error when there is none. */
export function serviceOf(definition: PackageDefinition, name: string): ServiceDefinition {
  const service = definition[name];
  if (service === undefined || 'format' in service) throw new Error(`The protos have no service ${name}`);
  return service;
}

function protoFolder(): string {
  // Both src/grpc and dist/grpc are two levels below the package.
  const candidates = ['../../protos', '../../../../protos'].map((path) =>
    fileURLToPath(new URL(path, import.meta.url)),
  );
  const folder = candidates.find((path) => existsSync(`${path}/${PUBLIC_PROTOS[0]}`));
  if (folder === undefined) throw new Error(`Cannot find the protos in ${candidates.join(' or ')}`);
  return folder;
}
