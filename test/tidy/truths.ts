/**
 * What the code says, as rows, for each table in the docs that is marked `<!-- table: NAME -->`.
 * A new marked table needs a truth here; a truth needs its table somewhere. Comparing is done in doc-tables.ts.
 */
import * as limits from '@quorate/protocol';
import { ERROR_CODES, ERRORS } from '@quorate/protocol';
import { environmentName, KEY_NAMES, KEYS } from '@quorate/server/config';
import { CHECKER_NAMES, PLANTED_FAULTS } from '@quorate/sim';
import { readFiles } from './workspace.ts';

type Rows = readonly (readonly string[])[];

/** gRPC's names of its status numbers (gRPC core, statuscodes.md). */
const GRPC_STATUS = [
  'OK',
  'CANCELLED',
  'UNKNOWN',
  'INVALID_ARGUMENT',
  'DEADLINE_EXCEEDED',
  'NOT_FOUND',
  'ALREADY_EXISTS',
  'PERMISSION_DENIED',
  'RESOURCE_EXHAUSTED',
  'FAILED_PRECONDITION',
  'ABORTED',
  'OUT_OF_RANGE',
  'UNIMPLEMENTED',
  'INTERNAL',
  'UNAVAILABLE',
  'DATA_LOSS',
  'UNAUTHENTICATED',
];

/** code | ZooKeeper's number | gRPC status | may the same call be sent again */
function errors(): Rows {
  return ERROR_CODES.map((code) => {
    const row = ERRORS[code];
    return [code, String(row.zookeeper), GRPC_STATUS[row.grpc]!, row.retryable ? 'yes' : 'no'];
  });
}

/** name | value: the numbers that limits.ts exports */
function protocolLimits(): Rows {
  const [source] = readFiles((path) => path === 'packages/protocol/src/limits.ts');
  const names = [...source!.text.matchAll(/^export const (\w+)/gm)].map((match) => match[1]!);
  const values: Readonly<Record<string, unknown>> = limits;
  return names.map((name) => [name, String(values[name])]);
}

/** environment name | default | what it is for */
function config(): Rows {
  return KEY_NAMES.map((name) => [environmentName(name), KEYS[name].defaultText, KEYS[name].help]);
}

/** port | who connects: by the defaults of the configuration */
function ports(): Rows {
  return [
    [String(KEYS.zookeeperPort.default), 'zookeeperPort'],
    [String(KEYS.grpcPort.default), 'grpcPort'],
    [/\d+$/.exec(KEYS.peerPort.defaultText)![0], 'peerPort'],
    [String(KEYS.adminPort.default), 'adminPort'],
  ];
}

/** checker */
function checkers(): Rows {
  return CHECKER_NAMES.map((name) => [name]);
}

/** fault | the rule that it breaks */
function plantedFaults(): Rows {
  return PLANTED_FAULTS.map(({ name, breaks }) => [name, breaks]);
}

/** Tables that must stand in exactly one document, with what the code says. */
export const TRUTHS: Readonly<Record<string, () => Rows>> = {
  errors,
  limits: protocolLimits,
  config,
  ports,
  checkers,
  'planted-faults': plantedFaults,
};

/** Tables that other rules read. */
export const READ_ELSEWHERE: readonly string[] = ['arrows', 'cases', 'dependencies'];
