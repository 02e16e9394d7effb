/** What the keys mean together. */
import { DEFAULT_LIMITS, DEFAULT_TIMING } from '@quorate/core';
import { describe, expect, it } from 'vitest';
import { configOf, resolveConfig } from './server-config.ts';

function fromFlags(flags: Record<string, unknown>) {
  return resolveConfig({ flags, environment: {}, file: undefined });
}

describe('a member on its own', () => {
  it('is standalone, on loopback, with the documented ports and the core’s defaults', () => {
    const config = configOf({});
    expect(config).toMatchObject({ sid: 1, members: [], bind: '127.0.0.1', advertisedHost: '127.0.0.1' });
    expect(config.ports).toEqual({ zookeeper: 2181, grpc: 2281, peer: 2381, admin: 2481 });
    expect(config.timing).toEqual(DEFAULT_TIMING);
    expect(config.limits).toEqual(DEFAULT_LIMITS);
  });

  it('refuses two ports that are the same', () => {
    expect(() => configOf({ grpcPort: 2481 })).toThrow('Bad adminPort 2481: grpcPort is the same');
    expect(() => configOf({ grpcPort: 0, adminPort: 0 })).not.toThrow();
  });
});

describe('a member of an ensemble', () => {
  const ensemble = '1=zk1:2381;c1:2281,2=zk2:2382,3=zk3:2383:observer';

  it('takes its peer port and its name from its own entry, and listens on every interface', () => {
    expect(fromFlags({ ensemble, sid: 2 })).toMatchObject({
      bind: '0.0.0.0',
      advertisedHost: 'zk2',
      ports: { peer: 2382 },
    });
    expect(fromFlags({ ensemble, sid: 1 }).advertisedHost).toBe('c1');
  });

  it('needs a sid, and one of the list (C108)', () => {
    expect(() => fromFlags({ ensemble })).toThrow('No sid is given');
    expect(() => fromFlags({ ensemble, sid: 4 })).toThrow(
      'Bad sid 4 (from flag --sid): the ensemble list has only 1, 2, 3',
    );
  });

  it.each(['0.0.0.0', '[::]', '[::0]'])('refuses the wildcard %s as an address to be told to others (C105)', (host) => {
    expect(() => fromFlags({ ensemble: `1=${host}:2381,2=zk2:2381`, sid: 1 })).toThrow('which others cannot dial');
    expect(() => fromFlags({ ensemble: `1=zk1:2381;${host}:2281`, sid: 1 })).toThrow('which others cannot dial');
  });

  it('refuses an advertised wildcard (C105)', () => {
    expect(() => fromFlags({ advertisedHost: '0.0.0.0' })).toThrow('clients cannot dial it');
  });

  it('takes a wildcard to bind beside an address to be told (C105)', () => {
    expect(fromFlags({ ensemble, sid: 1, bind: '0.0.0.0' }).bind).toBe('0.0.0.0');
    expect(fromFlags({ bind: '::' }).advertisedHost).toBe('localhost');
  });

  it('refuses to listen on loopback only when the others are told another address', () => {
    expect(() => fromFlags({ ensemble, sid: 1, bind: '127.0.0.1' })).toThrow('the other members dial zk1:2381');
    expect(fromFlags({ ensemble: '1=127.0.0.1:2381', sid: 1, bind: '127.0.0.1' }).bind).toBe('127.0.0.1');
  });
});

describe('timing', () => {
  it('bounds session timeouts by 2 and 20 ticks unless configured (C026)', () => {
    expect(configOf({ tickMs: 500 }).timing).toMatchObject({ sessionTimeoutMinMs: 1000, sessionTimeoutMaxMs: 10_000 });
    expect(configOf({ sessionTimeoutMaxMs: 90_000 }).timing.sessionTimeoutMaxMs).toBe(90_000);
  });

  it('refuses a least session timeout above the greatest (C026)', () => {
    expect(() => configOf({ sessionTimeoutMinMs: 50_000 })).toThrow(
      'Bad sessionTimeoutMinMs 50000 (from flag --session-timeout-min-ms): it is greater than sessionTimeoutMaxMs 40000',
    );
  });

  it('refuses heartbeats so frequent that a tick could pass between two of them and end a leadership', () => {
    expect(() => configOf({ heartbeatMs: 99 })).toThrow('heartbeatMs');
    expect(() => configOf({ heartbeatMs: 100 })).not.toThrow();
  });

  it('refuses heartbeats so rare that one late ping would end a leadership', () => {
    expect(() => configOf({ heartbeatMs: 2000 })).toThrow('it is more than half of syncTimeoutMs 3000');
  });

  it('refuses more outstanding bytes than may wait on a link: they are all forwarded at once to a new leader', () => {
    expect(() => configOf({ outstandingBytesMax: 2 ** 27 })).toThrow('it is more than peerQueueBytesMax 67108864');
    expect(configOf({ outstandingBytesMax: 2 ** 27, peerQueueBytesMax: 2 ** 27 }).limits.outstandingBytesMax).toBe(
      2 ** 27,
    );
  });
});
