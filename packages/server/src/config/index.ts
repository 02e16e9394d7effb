/** The face of the configuration, at `@quorate/server/config`: light to import, so that `--help` need not load gRPC. */
export { formatHostPort, type HostPort, isWildcard, parseHostPort } from './address.ts';
export { ConfigError } from './config-error.ts';
export { environmentName, flagName, type Key, type KeyGroup } from './key.ts';
export { KEY_NAMES, KEYS, type KeyName, type KeyValue } from './key-table.ts';
export { formatMembers, type MemberAddress, parseMembers } from './members.ts';
export {
  configOf,
  describeConfig,
  type LogLevel,
  type Ports,
  resolveConfig,
  type ServerConfig,
  type ServerLimits,
} from './server-config.ts';
export { nearest } from './suggest.ts';
