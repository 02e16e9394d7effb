import type { PeerMessage } from '@quorate/core';
import { expect, test } from 'vitest';
import type { NetworkKnobs } from './knobs.ts';
import { Network } from './network.ts';
import { Random } from './random.ts';
import { Schedule } from './schedule.ts';

const KNOBS: NetworkKnobs = { latencyMinUs: 100, latencyMaxUs: 1_000, redialMaxUs: 5_000, dialTimeoutUs: 50_000 };
/** Long enough to dial and to connect, µs. */
const SETTLE_US = 20_000;

const ping = (seq: number): PeerMessage => ({ kind: 'ping', seq });

/** Two members that write down what happens to their links. */
function pairOfMembers() {
  const schedule = new Schedule();
  const network = new Network(schedule, new Random(1), { sids: [1, 2], knobs: KNOBS });
  const logs: Record<number, string[]> = { 1: [], 2: [] };
  const links: Record<number, number> = {};
  let lastLink = 0;
  const join = (sid: number) => {
    network.join(sid, {
      linkUp: (peer) => {
        lastLink += 1;
        links[sid] = lastLink;
        logs[sid]?.push(`up ${peer}`);
        return lastLink;
      },
      linkDown: (peer) => logs[sid]?.push(`down ${peer}`),
      message: (peer, link, message) =>
        logs[sid]?.push(
          `${message.kind} ${'seq' in message ? message.seq : ''} from ${peer}${link === links[sid] ? '' : ' on an old link'}`,
        ),
    });
  };
  const send = (from: number, to: number, seq: number) => network.send(from, links[from] ?? 0, to, ping(seq));
  const pass = (us = SETTLE_US) => schedule.runUntil(schedule.nowUs + us);
  join(1);
  join(2);
  pass();
  return { network, logs, links, join, send, pass, schedule };
}

test('members that are up are connected once, on both sides', () => {
  const { logs } = pairOfMembers();
  expect(logs).toEqual({ 1: ['up 2'], 2: ['up 1'] });
});

test('messages arrive in order, both ways', () => {
  const { logs, send, pass } = pairOfMembers();
  for (const seq of [1, 2, 3]) send(1, 2, seq);
  send(2, 1, 9);
  pass();
  expect(logs[2]).toEqual(['up 1', 'ping 1 from 1', 'ping 2 from 1', 'ping 3 from 1']);
  expect(logs[1]).toEqual(['up 2', 'ping 9 from 2']);
});

test('a link that a member closes goes down on both sides and comes up anew', () => {
  const { network, logs, links, pass } = pairOfMembers();
  network.close(1, 2, links[1] ?? 0);
  pass();
  expect(logs).toEqual({ 1: ['up 2', 'down 2', 'up 2'], 2: ['up 1', 'down 1', 'up 1'] });
});

test('a send on a link that is not the current one is lost', () => {
  const { network, logs, links, pass, send } = pairOfMembers();
  const old = links[1] ?? 0;
  network.close(1, 2, old);
  pass();
  network.send(1, old, 2, ping(5));
  send(1, 2, 6);
  pass();
  expect(logs[2]?.filter((line) => line.startsWith('ping'))).toEqual(['ping 6 from 1']);
});

test('a severed connection loses what is under way but for a prefix, and is made again', () => {
  const { network, logs, send, pass } = pairOfMembers();
  for (let seq = 1; seq <= 20; seq += 1) send(1, 2, seq);
  network.sever(1, 2);
  pass();
  const pings = logs[2]?.filter((line) => line.startsWith('ping')) ?? [];
  expect(pings.length).toBeLessThan(20);
  expect(pings).toEqual(pings.map((_, index) => `ping ${index + 1} from 1`));
  expect(logs[1]).toEqual(['up 2', 'down 2', 'up 2']);
});

test('a blocked direction is silent, and what waited arrives when it is free', () => {
  const { network, logs, send, pass } = pairOfMembers();
  network.block(1, 2);
  send(1, 2, 1);
  send(2, 1, 2);
  pass();
  expect(logs).toEqual({ 1: ['up 2', 'ping 2 from 2'], 2: ['up 1'] });
  network.unblock(1, 2);
  pass();
  expect(logs[2]).toEqual(['up 1', 'ping 1 from 1']);
});

test('nobody connects across a cut, and both do when it ends', () => {
  const { network, logs, pass } = pairOfMembers();
  network.block(1, 2);
  network.sever(1, 2);
  pass();
  expect(logs[1]).toEqual(['up 2', 'down 2']);
  network.unblock(1, 2);
  pass();
  expect(logs[1]).toEqual(['up 2', 'down 2', 'up 2']);
  expect(logs[2]).toEqual(['up 1', 'down 1', 'up 1']);
});

test('a process that dies is noticed by its peer; a machine that dies only when it is back', () => {
  const killed = pairOfMembers();
  killed.network.leave(1, false);
  killed.pass();
  expect(killed.logs[2]).toEqual(['up 1', 'down 1']);

  const off = pairOfMembers();
  off.network.leave(1, true);
  off.pass();
  expect(off.logs[2]).toEqual(['up 1']);
  off.join(1);
  off.pass();
  expect(off.logs[2]).toEqual(['up 1', 'down 1', 'up 1']);
});

test('a frozen member keeps its links and makes none', () => {
  const { network, logs, links, pass, send } = pairOfMembers();
  network.freeze(1, true);
  send(2, 1, 1);
  pass();
  expect(logs[1]).toEqual(['up 2', 'ping 1 from 2']);
  network.close(2, 1, links[2] ?? 0);
  pass();
  expect(logs[2]).toEqual(['up 1', 'down 1']);
  network.freeze(1, false);
  pass();
  expect(logs[2]).toEqual(['up 1', 'down 1', 'up 1']);
});
