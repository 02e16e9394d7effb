/** From the configuration of a member to what its core is told: who votes, and what is different in this run. */
import { randomInt } from 'node:crypto';
import type { MemberConfig } from '@quorate/core';
import { firstSessionId } from '@quorate/protocol';
import type { MemberInfo } from '@quorate/protocol/grpc';
import { formatHostPort, type Ports, type ServerConfig } from './config/index.ts';

/** The core's configuration for one run. */
export function memberConfigOf(config: ServerConfig): MemberConfig {
  const { sid, members, bootstrap, timing, limits } = config;
  const startMs = Date.now();
  const isStandalone = members.length === 0;
  return {
    sid,
    voters: isStandalone ? [sid] : members.filter(({ observer }) => !observer).map((member) => member.sid),
    observers: members.filter(({ observer }) => observer).map((member) => member.sid),
    // Below 2^48, and another one in every run, also when the clock has been set back.
    incarnation: startMs * 64 + randomInt(64),
    firstSessionId: firstSessionId(sid, startMs),
    seed: randomInt(0x7fff_ffff),
    bootstrap,
    timing,
    limits,
  };
}

/** All members as configured, for status; this one with the port that it really has. */
export function memberInfosOf(config: ServerConfig, ports: Ports): readonly MemberInfo[] {
  const ownClient = formatHostPort(config.advertisedHost, ports.grpc);
  if (config.members.length === 0) {
    return [{ sid: config.sid, kind: 'voter', peerAddress: '', clientAddress: ownClient }];
  }
  return [...config.members]
    .sort((a, b) => a.sid - b.sid)
    .map(({ sid, peer, observer, client }) => ({
      sid,
      kind: observer ? 'observer' : 'voter',
      peerAddress: formatHostPort(peer.host, peer.port),
      clientAddress:
        client !== undefined ? formatHostPort(client.host, client.port) : sid === config.sid ? ownClient : '',
    }));
}
