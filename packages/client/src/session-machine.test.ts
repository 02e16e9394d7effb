/** The life of a session, input by input: the exact commands, without sockets and without waiting. */
import { NO_SESSION, toSessionId, toZxid } from '@quorate/protocol';
import type { ServerHello } from '@quorate/protocol/frames';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Command, type Input, type MachineConfig, SessionMachine } from './session-machine.ts';

const SERVERS = ['a', 'b', 'c'].map((host) => ({ host, port: 1 }));
const ID = toSessionId(0xff00_0000_0000_0003n);
const TIMEOUT_MS = 6_000;

/** What a member says beside the code when it closes a stream. */
const WORD = { message: 'older', unansweredNotApplied: false } as const;

function hello(patch: Partial<ServerHello> = {}): ServerHello {
  const limits = { frameBytesMax: 4_000_000, requestBytesMax: 1_000_000, protocolRevision: 1 };
  const token = new Uint8Array([1, 2]);
  return { session: ID, token, timeoutMs: TIMEOUT_MS, resumed: false, sid: 1, zxid: toZxid(7n), ...limits, ...patch };
}

/** A machine with a clock that the test moves. */
class Rig {
  readonly machine: SessionMachine;
  nowMs = 1_000;
  attempt = 0;

  constructor(patch: Partial<MachineConfig> = {}) {
    this.machine = new SessionMachine({
      servers: SERVERS,
      sessionTimeoutMs: TIMEOUT_MS,
      onSessionLost: 'renew',
      backoff: { baseMs: 50, maxMs: 3_000 },
      random: () => 0.5,
      ...patch,
    });
  }

  step(input: Input): readonly Command[] {
    const commands = this.machine.step(input, { monotonicMs: this.nowMs, wallMs: 1_000_000 + this.nowMs });
    for (const command of commands) if (command.kind === 'dial') this.attempt = command.attempt;
    return commands;
  }

  /** Moves the clock to the next wake and wakes. */
  wake(late = false): readonly Command[] {
    this.nowMs = Math.max(this.nowMs, this.machine.wakeAtMs ?? this.nowMs);
    return this.step({ kind: 'wake', late });
  }

  /** Starts and attaches to the first member. */
  attach(): this {
    this.step({ kind: 'start' });
    this.step({ kind: 'hello', attempt: this.attempt, hello: hello() });
    return this;
  }

  /** Wakes until it dials; returns that command. */
  dial(): Extract<Command, { kind: 'dial' }> {
    for (let turn = 0; turn < 5; turn++) {
      const dial = this.wake().find((command) => command.kind === 'dial');
      if (dial !== undefined) return dial;
    }
    throw new Error('It does not dial');
  }
}

const kinds = (commands: readonly Command[]) =>
  commands.map((command) => (command.kind === 'state' ? command.state.state : command.kind));

describe('opening a session', () => {
  it('dials the first member with a hello for a new session', () => {
    const rig = new Rig();
    const commands = rig.step({ kind: 'start' });
    expect(kinds(commands)).toEqual(['connecting', 'dial']);
    expect(commands[1]).toMatchObject({
      server: SERVERS[0],
      hello: { session: NO_SESSION, token: new Uint8Array(0), timeoutMs: TIMEOUT_MS, lastZxidSeen: 0n },
    });
  });

  it('is attached with the hello, and tells the member', () => {
    const rig = new Rig();
    rig.step({ kind: 'start' });
    const commands = rig.step({ kind: 'hello', attempt: 1, hello: hello({ timeoutMs: 4_000 }) });
    expect(kinds(commands)).toEqual(['attached', 'connected']);
    expect(commands[1]).toMatchObject({ state: { server: 'a:1' } });
    expect(rig.machine).toMatchObject({ id: ID, timeoutMs: 4_000, lastZxid: 7n });
  });

  it('goes on to the next member when one does not answer, does not accept, or is lost', () => {
    const rig = new Rig();
    rig.step({ kind: 'start' });
    expect(kinds(rig.wake())).toEqual(['drop']);
    expect(rig.nowMs).toBe(2_000);
    expect(rig.dial().server).toEqual(SERVERS[1]);
    rig.step({ kind: 'transportUp', attempt: rig.attempt });
    const upMs = rig.nowMs;
    expect(kinds(rig.wake())).toEqual(['drop']);
    expect(rig.nowMs - upMs).toBe(2_000);
    expect(rig.dial().server).toEqual(SERVERS[2]);
    expect(kinds(rig.step({ kind: 'lost', attempt: rig.attempt, reason: 'x' }))).toEqual([]);
    expect(rig.dial().server).toEqual(SERVERS[0]);
    expect(rig.machine.lastFailure).toBe('x');
  });

  it('takes no hello without a session, and none of another', () => {
    const rig = new Rig().attach();
    rig.step({ kind: 'lost', attempt: 1, reason: 'x' });
    rig.dial();
    const other = hello({ session: toSessionId(5n) });
    expect(kinds(rig.step({ kind: 'hello', attempt: 2, hello: other }))).toEqual(['drop']);
    rig.dial();
    const none = hello({ session: NO_SESSION });
    expect(kinds(rig.step({ kind: 'hello', attempt: 3, hello: none }))).toEqual(['drop']);
    expect(rig.machine.id).toBe(ID);
  });
});

describe('an attached session', () => {
  it('sends a heartbeat a third of the timeout after the last proof of life, and no earlier', () => {
    const rig = new Rig().attach();
    rig.nowMs = 2_500;
    rig.machine.proven(2_400);
    expect(rig.machine.wakeAtMs).toBe(4_400);
    expect(kinds(rig.wake())).toEqual(['heartbeat']);
    expect(rig.machine.wakeAtMs).toBe(5_000);
  });

  it('C079: leaves a member that is silent for two thirds of the timeout, and keeps the session', () => {
    const rig = new Rig().attach();
    expect(kinds(rig.wake())).toEqual(['heartbeat']);
    expect(kinds(rig.wake())).toEqual(['drop', 'detached', 'suspended']);
    expect(rig.nowMs).toBe(5_000);
    const { hello: again, server } = rig.dial();
    expect(server).toEqual(SERVERS[1]);
    expect(again).toMatchObject({ session: ID, token: new Uint8Array([1, 2]), lastZxidSeen: 7n });
    const commands = rig.step({ kind: 'hello', attempt: 2, hello: hello({ resumed: true }) });
    expect(kinds(commands)).toEqual(['attached', 'connected']);
  });

  it('C076: stays with a member that answers heartbeats, however long a call takes', () => {
    const rig = new Rig().attach();
    for (let turn = 0; turn < 50; turn++) {
      expect(kinds(rig.wake())).toEqual(['heartbeat']);
      rig.machine.heard(1, true, rig.nowMs);
    }
    expect(rig.machine.id).toBe(ID);
  });

  it('leaves a member that talks but does not answer heartbeats', () => {
    const rig = new Rig().attach();
    const seen: string[] = [];
    for (let turn = 0; turn < 5; turn++) {
      seen.push(...kinds(rig.wake()));
      rig.machine.heard(1, false, rig.nowMs);
      rig.machine.proven(rig.nowMs - 1_500);
    }
    expect(seen).toEqual(['heartbeat', 'heartbeat', 'heartbeat', 'heartbeat', 'drop', 'detached', 'suspended']);
  });

  it('does not call a member silent for the time that the process was stopped', () => {
    const rig = new Rig().attach();
    rig.nowMs = 5_500;
    expect(kinds(rig.step({ kind: 'wake', late: true }))).toEqual(['heartbeat']);
    rig.machine.heard(1, false, 5_500);
    expect(kinds(rig.step({ kind: 'wake', late: false }))).toEqual([]);
  });

  it('counts its end from when the answered frame was sent, not from when the answer came', () => {
    const rig = new Rig().attach();
    rig.nowMs = 3_000;
    rig.step({ kind: 'wake', late: false });
    rig.nowMs = 4_500;
    rig.machine.heard(1, true, rig.nowMs);
    const [, suspended] = rig.step({ kind: 'lost', attempt: 1, reason: 'x' });
    expect(suspended).toEqual({
      kind: 'state',
      state: { state: 'suspended', expiresAtMs: 1_000_000 + 3_000 + TIMEOUT_MS, reason: 'x' },
    });
  });

  it('keeps the highest zxid that it has seen, exactly', () => {
    const rig = new Rig().attach();
    rig.machine.seen(toZxid(9_007_199_254_740_993n));
    rig.machine.seen(toZxid(9_007_199_254_740_992n));
    rig.step({ kind: 'lost', attempt: 1, reason: 'x' });
    expect(rig.dial().hello.lastZxidSeen).toBe(9_007_199_254_740_993n);
  });

  it('goes elsewhere with its session when the member closes the stream for any other reason than expiry', () => {
    for (const code of ['UNAVAILABLE', 'SESSION_MOVED', 'SERVER_BEHIND', 'THROTTLED'] as const) {
      const rig = new Rig().attach();
      const commands = rig.step({ kind: 'closedByServer', attempt: 1, code, ...WORD });
      expect(kinds(commands)).toEqual(['drop', 'detached', 'suspended']);
      expect(commands[1]).toMatchObject({ notApplied: false });
      expect(rig.dial().hello.session).toBe(ID);
    }
  });
});

describe('the end of a session', () => {
  it('C075: is said once when the ensemble says so, and a new session follows', () => {
    const rig = new Rig().attach();
    const commands = rig.step({ kind: 'closedByServer', attempt: 1, code: 'SESSION_EXPIRED', ...WORD });
    expect(kinds(commands)).toEqual(['drop', 'detached', 'sessionEnded', 'expired', 'connecting']);
    expect(rig.dial().hello).toMatchObject({ session: NO_SESSION, token: new Uint8Array(0), lastZxidSeen: 0n });
    expect(kinds(rig.step({ kind: 'hello', attempt: 2, hello: hello({ session: toSessionId(9n) }) }))).toContain(
      'connected',
    );
  });

  it('C080: comes by the local clock when no member can be reached, no later than the timeout', () => {
    const rig = new Rig().attach();
    rig.machine.proven(1_200);
    rig.nowMs = 1_300;
    rig.step({ kind: 'lost', attempt: 1, reason: 'cut off' });
    const seen: string[] = [];
    while (!seen.includes('expired')) {
      const commands = rig.wake();
      seen.push(...kinds(commands));
      for (const command of commands) {
        if (command.kind === 'dial')
          seen.push(...kinds(rig.step({ kind: 'lost', attempt: command.attempt, reason: 'refused' })));
      }
    }
    expect(rig.nowMs).toBe(1_200 + TIMEOUT_MS);
    expect(seen.filter((kind) => kind === 'expired')).toEqual(['expired']);
  });

  it('C080: comes at once after a long stop, before anything that arrived meanwhile', () => {
    const rig = new Rig().attach();
    rig.nowMs += 3 * TIMEOUT_MS;
    const commands = rig.step({ kind: 'wake', late: true });
    expect(kinds(commands)).toEqual(['drop', 'detached', 'sessionEnded', 'expired', 'connecting']);
  });

  it('drops an attempt that is under way, so that the ended session cannot come back', () => {
    const rig = new Rig().attach();
    rig.nowMs = 6_900;
    rig.step({ kind: 'lost', attempt: 1, reason: 'x' });
    rig.dial();
    expect(kinds(rig.wake())).toEqual(['drop', 'sessionEnded', 'expired', 'connecting']);
    expect(rig.step({ kind: 'hello', attempt: 2, hello: hello({ resumed: true }) })).toEqual([]);
    expect(rig.dial().hello.session).toBe(NO_SESSION);
  });

  it('C087: forgets its position, so that an ensemble set back to an older state takes it', () => {
    const rig = new Rig().attach();
    rig.step({ kind: 'lost', attempt: 1, reason: 'restarted' });
    const behind = { kind: 'closedByServer', code: 'SERVER_BEHIND', ...WORD } as const;
    // A member may be a moment behind the one that was lost: that is no news.
    expect(kinds(rig.step({ ...behind, attempt: rig.dial().attempt }))).toEqual(['drop']);
    rig.nowMs += 500;
    const [, said] = rig.step({ ...behind, attempt: rig.dial().attempt });
    expect(said).toMatchObject({
      state: { state: 'suspended', reason: expect.stringContaining('SERVER_BEHIND') as string },
    });
    expect(kinds(rig.step({ ...behind, attempt: rig.dial().attempt }))).toEqual(['drop']);
    for (let turn = 0; turn < 100 && rig.machine.id !== NO_SESSION; turn++) {
      for (const command of rig.wake()) {
        if (command.kind !== 'dial') continue;
        const { attempt } = command;
        rig.step({ kind: 'closedByServer', attempt, code: 'SERVER_BEHIND', ...WORD });
      }
    }
    expect(rig.dial().hello).toMatchObject({ session: NO_SESSION, lastZxidSeen: 0n });
  });

  it('closes the client when it is told not to renew', () => {
    const rig = new Rig({ onSessionLost: 'close' }).attach();
    const commands = rig.step({ kind: 'closedByServer', attempt: 1, code: 'SESSION_EXPIRED', ...WORD });
    expect(kinds(commands)).toEqual(['drop', 'detached', 'sessionEnded', 'expired', 'closed']);
    expect(rig.machine.wakeAtMs).toBeUndefined();
  });

  it('is final when the client is closed', () => {
    const rig = new Rig().attach();
    expect(kinds(rig.step({ kind: 'close' }))).toEqual(['drop', 'detached', 'closed']);
    expect(rig.step({ kind: 'close' })).toEqual([]);
    expect(rig.step({ kind: 'lost', attempt: 1, reason: 'x' })).toEqual([]);
    expect(rig.machine.wakeAtMs).toBeUndefined();
  });
});

describe('C073: attempts', () => {
  /** Attempts in `spanMs` when every one ends as `end` says. */
  function attempts(spanMs: number, end: (rig: Rig) => void): number {
    const rig = new Rig();
    rig.step({ kind: 'start' });
    while (rig.nowMs < 1_000 + spanMs) {
      if (rig.machine.wakeAtMs === undefined) break;
      end(rig);
      rig.wake();
    }
    return rig.attempt;
  }

  it('are at most one a second on average when every one is refused', () => {
    const count = attempts(60_000, (rig) => void rig.step({ kind: 'lost', attempt: rig.attempt, reason: 'refused' }));
    expect(count).toBeGreaterThan(30);
    expect(count).toBeLessThan(60);
  });

  it('are as rare when members accept and stay silent, or are behind', () => {
    expect(attempts(60_000, () => {})).toBeLessThan(60);
    const behind = { kind: 'closedByServer', code: 'SERVER_BEHIND', ...WORD } as const;
    expect(attempts(60_000, (rig) => void rig.step({ ...behind, attempt: rig.attempt }))).toBeLessThan(60);
  });

  it('are as rare when every handshake succeeds and the stream breaks at once', () => {
    const count = attempts(60_000, (rig) => {
      rig.step({ kind: 'hello', attempt: rig.attempt, hello: hello() });
      rig.step({ kind: 'lost', attempt: rig.attempt, reason: 'broken' });
    });
    expect(count).toBeLessThan(60);
  });

  it('come quickly again after an attachment that lasted', () => {
    const rig = new Rig();
    rig.step({ kind: 'start' });
    for (let turn = 0; turn < 10; turn++) {
      rig.step({ kind: 'lost', attempt: rig.attempt, reason: 'refused' });
      rig.dial();
    }
    rig.step({ kind: 'hello', attempt: rig.attempt, hello: hello() });
    rig.nowMs += 1_500;
    rig.step({ kind: 'lost', attempt: rig.attempt, reason: 'broken' });
    expect((rig.machine.wakeAtMs ?? 0) - rig.nowMs).toBeLessThan(50);
  });
});

describe('any history', () => {
  const ID2 = toSessionId(0x7f00_0000_0000_0001n);
  const input = fc.oneof(
    fc.record({ kind: fc.constant('wake' as const), late: fc.boolean() }),
    fc.record({ kind: fc.constantFrom('transportUp' as const), back: fc.nat({ max: 1 }) }),
    fc.record({ kind: fc.constant('hello' as const), back: fc.nat({ max: 1 }), id: fc.constantFrom(ID, ID2) }),
    fc.record({ kind: fc.constant('lost' as const), back: fc.nat({ max: 1 }) }),
    fc.record({
      kind: fc.constant('closedByServer' as const),
      back: fc.nat({ max: 1 }),
      code: fc.constantFrom('SESSION_EXPIRED' as const, 'SERVER_BEHIND' as const),
    }),
  );

  it('says `expired` once a session, never sends while detached, and always has something to wake for', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(input, fc.nat({ max: 4_000 })), { maxLength: 80 }), (steps) => {
        const rig = new Rig();
        let isAttached = false;
        let begun = 0;
        let ended = 0;
        let hadSession = false;
        const see = (commands: readonly Command[]) => {
          for (const command of commands) {
            if (command.kind === 'attached') {
              expect(isAttached).toBe(false);
              isAttached = true;
              if (!hadSession) begun++;
              hadSession = true;
            } else if (command.kind === 'detached') {
              expect(isAttached).toBe(true);
              isAttached = false;
            } else if (command.kind === 'heartbeat') expect(isAttached).toBe(true);
            else if (command.kind === 'dial') expect(isAttached).toBe(false);
            else if (command.kind === 'sessionEnded') {
              expect(hadSession).toBe(true);
              hadSession = false;
              ended++;
            }
          }
          expect(rig.machine.wakeAtMs).toBeDefined();
          expect(begun - ended).toBe(hadSession ? 1 : 0);
          expect(rig.machine.id !== NO_SESSION).toBe(hadSession);
        };
        see(rig.step({ kind: 'start' }));
        for (const [made, passMs] of steps) {
          rig.nowMs += passMs;
          const attempt = 'back' in made ? rig.attempt - made.back : 0;
          if (made.kind === 'wake') see(rig.step(made));
          else if (made.kind === 'hello') see(rig.step({ kind: 'hello', attempt, hello: hello({ session: made.id }) }));
          else if (made.kind === 'closedByServer') see(rig.step({ ...made, attempt, ...WORD }));
          else if (made.kind === 'lost') see(rig.step({ kind: 'lost', attempt, reason: 'x' }));
          else see(rig.step({ kind: 'transportUp', attempt }));
        }
      }),
    );
  });
});
