/** The driver with a core that is a script: turns, the order of actions, and what ends a member. */
import type { MemberStatus, PeerAction, PeerEvent, SessionInspector, WatchInspector } from '@quorate/core';
import type { Zxid } from '@quorate/protocol';
import type { MemberStore, StatePage } from '@quorate/storage';
import { describe, expect, it, vi } from 'vitest';
import { type Core, Driver } from './driver.ts';
import { createLog } from './logging.ts';
import type { Link } from './peers/link.ts';

/** A core that answers events with what a script says, and notes them. */
class ScriptedCore implements Core {
  readonly seen: string[] = [];
  readonly status = {} as MemberStatus;
  readonly sessions = {} as SessionInspector;
  readonly watches = {} as WatchInspector;
  readonly script: (event: PeerEvent) => readonly PeerAction[];

  constructor(script: (event: PeerEvent) => readonly PeerAction[] = () => []) {
    this.script = script;
  }

  step(event: PeerEvent): readonly PeerAction[] {
    // Turns in which there was nothing but the clock are not noted.
    const isIdle = event.kind === 'tick' || (event.kind === 'turnEnded' && this.seen.at(-1) === 'turnEnded');
    if (!isIdle) this.seen.push(event.kind);
    return this.script(event);
  }
}

/** A store that notes what it is asked, and has pages of state. */
function storeOf(done: string[], pages: readonly StatePage[] = []): MemberStore {
  let page = 0;
  return {
    recover: () => Promise.reject(new Error('not asked here')),
    submit: (ticket, command) => done.push(`submit ${ticket} ${command.kind}`),
    checkpointPut: () => done.push('checkpointPut'),
    checkpointCommit: () => done.push('checkpointCommit'),
    checkpointAbort: () => done.push('checkpointAbort'),
    openState: (stream) => done.push(`openState ${stream}`),
    readState: () => Promise.resolve(pages[page++] ?? { records: [], done: true }),
    closeState: (stream) => done.push(`closeState ${stream}`),
    stats: {} as MemberStore['stats'],
    close: () => Promise.resolve(),
  };
}

function setUp(
  script?: (event: PeerEvent) => readonly PeerAction[],
  pages?: readonly StatePage[],
  link?: Link,
  turnMs = Infinity,
) {
  const done: string[] = [];
  const fatal: string[] = [];
  const core = new ScriptedCore(script);
  const driver = new Driver({
    links: {
      send: (sid, number, message) => done.push(`send ${sid} ${number} ${message.kind}`),
      flush: () => done.push('flush'),
      close: (sid, number) => done.push(`close ${sid} ${number}`),
      get: () => link,
      hold: (sid, number, isHeld) => done.push(`hold ${sid} ${number} ${isHeld}`),
    },
    log: createLog({ level: 'silent', sid: 1, place: () => undefined, write: () => undefined }),
    onFatal: (reason) => fatal.push(reason),
    onDiskFailed: (reason) => done.push(`disk failed: ${reason}`),
    onRebuild: (reason, isDiskWrong) => done.push(`rebuild: ${reason} ${isDiskWrong}`),
    onStatus: () => done.push('status'),
    onStopped: () => done.push('stopped'),
    turnMs,
  });
  driver.start(core, storeOf(done, pages), []);
  return { done, fatal, core, driver };
}

const ping = { kind: 'ping', seq: 1 } as const;
const turnOver = (core: ScriptedCore) => vi.waitFor(() => expect(core.seen).toContain('turnEnded'));

describe('a turn', () => {
  it('takes all events at hand, says turnEnded once, and flushes links and answered streams once', async () => {
    const { core, driver, done } = setUp((event) =>
      event.kind === 'heard'
        ? [
            { kind: 'send', sid: 2, link: 1, message: ping },
            { kind: 'statusChanged' },
            { kind: 'answer', callId: 1, answer: { zxid: 1n as Zxid, result: { kind: 'delete' } } },
          ]
        : [],
    );
    const attachment = { flush: () => done.push('stream flushed'), close: () => undefined, notify: () => undefined };
    const number = driver.attach(attachment);
    driver.calls.add({ answer: () => driver.answered(attachment) });
    for (let i = 0; i < 3; i++) driver.post({ kind: 'heard', attachment: number });
    await turnOver(core);
    expect(core.seen).toEqual(['heard', 'heard', 'heard', 'turnEnded']);
    expect(done.slice(0, 6)).toEqual([
      'send 2 1 ping',
      'send 2 1 ping',
      'send 2 1 ping',
      'flush',
      'stream flushed',
      'status',
    ]);
  });

  it('C141: that has taken long ends, and the rest comes in the next one, in order, before what was posted meanwhile', async () => {
    const late: { post?: () => void } = {};
    const script = (event: PeerEvent) => {
      if (event.kind === 'heard' && event.attachment === 1) late.post?.();
      return [];
    };
    const { core, driver } = setUp(script, undefined, undefined, 0);
    late.post = () => driver.post({ kind: 'stop' });
    driver.post({ kind: 'heard', attachment: 1 });
    driver.post({ kind: 'heard', attachment: 2 });
    await vi.waitFor(() => expect(core.seen).toContain('stop'));
    const first = core.seen.indexOf('heard');
    expect(core.seen.slice(first, first + 5)).toEqual(['heard', 'turnEnded', 'heard', 'turnEnded', 'stop']);
  });

  it('carries out actions in the order in which they were asked for', async () => {
    const { core, driver, done } = setUp((event) =>
      event.kind === 'heard'
        ? [
            { kind: 'persist', ticket: 1, command: { kind: 'installBegin' } },
            { kind: 'send', sid: 2, link: 1, message: ping },
            { kind: 'checkpointPut', records: [] },
            { kind: 'checkpointCommit', zxid: 5n as Zxid },
            { kind: 'openState', stream: 3 },
            { kind: 'closeLink', sid: 2, link: 1, reason: 'x' },
            { kind: 'closeState', stream: 3 },
            { kind: 'stopped' },
          ]
        : [],
    );
    driver.post({ kind: 'heard', attachment: 1 });
    await turnOver(core);
    expect(done.slice(0, 9)).toEqual([
      'submit 1 installBegin',
      'send 2 1 ping',
      'checkpointPut',
      'checkpointCommit',
      'openState 3',
      'close 2 1',
      'closeState 3',
      'stopped',
      'flush',
    ]);
  });

  it('reports what the store reports, in order', async () => {
    const { core, driver } = setUp();
    const events = driver.newRun();
    events.persisted(1);
    events.checkpointReady();
    events.checkpointWritten(1n as Zxid);
    events.stateOpened(1, 1n as Zxid);
    events.stateFailed(1, 'x');
    events.failed('x');
    await turnOver(core);
    expect(core.seen).toEqual([
      'persisted',
      'checkpointReady',
      'checkpointWritten',
      'stateOpened',
      'stateFailed',
      'storageFailed',
      'turnEnded',
    ]);
  });
});

describe('a core in the place of another', () => {
  it('C057: hears nothing of what the earlier store reports, and of the clients what they say from then on', async () => {
    const { core, driver, done } = setUp();
    const earlier = driver.newRun();
    earlier.persisted(7);
    const later = driver.newRun();
    const next = new ScriptedCore();
    driver.start(next, storeOf(done), [{ kind: 'openState', stream: 1 }]);
    earlier.persisted(8);
    earlier.failed('late');
    earlier.stateFailed(1, 'late');
    later.persisted(1);
    driver.post({ kind: 'heard', attachment: 1 });
    await turnOver(next);
    expect(next.seen).toEqual(['persisted', 'heard', 'turnEnded']);
    expect(core.seen).toEqual([]);
    expect(done).toContain('openState 1');
  });

  it('C056: a failed disk does not end the member: the driver says so and goes on', async () => {
    const { core, driver, done, fatal } = setUp((event) =>
      event.kind === 'storageFailed' ? [{ kind: 'diskFailed', reason: event.reason }] : [],
    );
    driver.newRun().failed('ENOSPC');
    await vi.waitFor(() => expect(done).toContain('disk failed: ENOSPC'));
    driver.post({ kind: 'heard', attachment: 1 });
    await vi.waitFor(() => expect(core.seen).toContain('heard'));
    expect(fatal).toEqual([]);
  });
});

describe('a stream of the state', () => {
  const records = [{ key: Uint8Array.of(1), value: Uint8Array.of(2) }];
  const link = { queuedBytes: 0, flush: () => undefined } as unknown as Link;

  it('is sent page by page and reported as sent', async () => {
    const pages = [
      { records, done: false },
      { records, done: true },
    ];
    const ask: PeerAction = { kind: 'sendState', stream: 1, sid: 2, link: 1 };
    const { core, driver, done } = setUp((event) => (event.kind === 'heard' ? [ask] : []), pages, link);
    driver.post({ kind: 'heard', attachment: 1 });
    await vi.waitFor(() => expect(core.seen).toContain('stateSent'));
    expect(done.filter((what) => what === 'send 2 1 stateChunk').length).toBe(2);
  });

  it('ends without a word when the link is gone', async () => {
    const ask: PeerAction = { kind: 'sendState', stream: 1, sid: 2, link: 1 };
    const { core, driver, done } = setUp((event) => (event.kind === 'heard' ? [ask] : []), [{ records, done: true }]);
    driver.post({ kind: 'heard', attachment: 1 });
    await turnOver(core);
    driver.post({ kind: 'heard', attachment: 2 });
    await vi.waitFor(() => expect(core.seen.filter((kind) => kind === 'turnEnded').length).toBe(2));
    expect(core.seen).not.toContain('stateSent');
    expect(done.some((what) => what.startsWith('send'))).toBe(false);
  });
});

describe('a member that cannot go on', () => {
  it('is ended once when the core throws, and nothing happens after it (C167)', async () => {
    const { core, driver, done, fatal } = setUp((event) => {
      if (event.kind === 'heard') throw new Error('Z3: broken');
      return [];
    });
    driver.post({ kind: 'heard', attachment: 1 });
    driver.post({ kind: 'detached', attachment: 1 });
    await vi.waitFor(() => expect(fatal.length).toBe(1));
    expect(fatal[0]).toContain('Z3: broken');
    driver.post({ kind: 'detached', attachment: 1 });
    expect(core.seen).toEqual(['heard']);
    expect(done).toEqual([]);
  });

  it('is ended when the core asks for it, and what it asked for after that is not done', async () => {
    const { driver, done, fatal } = setUp((event) =>
      event.kind === 'heard'
        ? [
            { kind: 'fail', reason: 'the disk lied' },
            { kind: 'send', sid: 2, link: 1, message: ping },
          ]
        : [],
    );
    driver.post({ kind: 'heard', attachment: 1 });
    await vi.waitFor(() => expect(fatal).toEqual(['the disk lied']));
    expect(done).toEqual([]);
  });
});
