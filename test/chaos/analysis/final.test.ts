/** The checks of what members hold at the end find what is lost, doubled, orphaned or different. */
import { describe, expect, it } from 'vitest';
import type { Call } from '../history.ts';
import { ephemeralFaults, equalityFaults, type FinalState, lostWriteFaults, queueFaults } from './final.ts';
import { call, finalState, write } from './history.fixture.ts';

function queued(value: string, number: number, over: Partial<Call> = {}): Call {
  return call('create', '/q/n-', [number, number + 1], { value, created: `/q/n-${number}`, version: 0, ...over });
}

describe('acknowledged writes', () => {
  const calls = [write('/r/x', 0, 1n, [0, 1]), write('/r/x', 1, 2n, [2, 3])];
  const holding = (version: number, value: string): FinalState[] => [
    finalState(1, { registers: new Map([['/r/x', { version: 1, value: 'v1' }]]) }),
    finalState(2, { registers: new Map([['/r/x', { version, value }]]) }),
  ];

  it('there at every member, or replaced since, is good', () => {
    expect(lostWriteFaults(calls, holding(1, 'v1'))).toEqual([]);
    expect(lostWriteFaults(calls, holding(2, 'v2'))).toEqual([]);
  });

  it('missing at one member is found, and so is another value in its place', () => {
    expect(lostWriteFaults(calls, holding(0, 'v0'))).toEqual([expect.stringMatching(/member 2 has lost .* = v1/)]);
    expect(lostWriteFaults(calls, holding(1, 'v9'))).toEqual([expect.stringMatching(/member 2 has v9 in place of/)]);
  });
});

describe('sequential creates', () => {
  const calls = [queued('a', 1), queued('b', 2), queued('c', 3, { outcome: 'unknown', created: undefined })];
  const holding = (...entries: [string, string][]): FinalState[] => [finalState(1, { queue: new Map(entries) })];
  const a: [string, string] = ['/q/n-1', 'a'];
  const b: [string, string] = ['/q/n-2', 'b'];

  it('acknowledged ones are there, unknown ones may be', () => {
    expect(queueFaults(calls, holding(a, b))).toEqual([]);
    expect(queueFaults(calls, holding(a, b, ['/q/n-3', 'c']))).toEqual([]);
  });

  it.each([
    ['a lost one', [a], /has lost/],
    ['a doubled one', [a, b, ['/q/n-3', 'a']], /has a twice/],
    ['one that nobody created', [a, b, ['/q/n-3', 'z']], /nobody created/],
  ] as [string, [string, string][], RegExp][])('%s is found', (_, entries, message) => {
    expect(queueFaults(calls, holding(...entries)).join('\n')).toMatch(message);
  });

  it('one name for two, and a refused one that is there, are found', () => {
    expect(queueFaults([...calls, queued('d', 2)], holding(a, b)).join('\n')).toMatch(/were given one name/);
    const refused = queued('d', 4, { outcome: 'refused', code: 'UNAVAILABLE', created: undefined });
    expect(queueFaults([...calls, refused], holding(a, b, ['/q/n-4', 'd'])).join('\n')).toMatch(/was refused/);
  });
});

describe('C022: ephemerals', () => {
  const live = new Set([7n]);
  const calls = [call('create', '/e/x', [0, 1], { owner: 7n }), call('create', '/e/dead', [0, 1], { owner: 8n })];
  const holding = (...entries: [string, bigint][]): FinalState[] => [finalState(1, { ephemerals: new Map(entries) })];

  it('those of live sessions are there and no others', () => {
    expect(ephemeralFaults(calls, holding(['/e/x', 7n]), live)).toEqual([]);
  });

  it('an orphan, a missing one and a deleted one are found', () => {
    expect(ephemeralFaults(calls, holding(['/e/x', 7n], ['/e/dead', 8n]), live)).toEqual([
      expect.stringMatching(/session 8, which has ended/),
    ]);
    expect(ephemeralFaults(calls, holding(), live)).toEqual([
      expect.stringMatching(/lacks \/e\/x of the live session/),
    ]);
    const deleted = [...calls, call('delete', '/e/x', [2, 3])];
    expect(ephemeralFaults(deleted, holding(['/e/x', 7n]), live)).toEqual([expect.stringMatching(/which was deleted/)]);
  });

  it('a session that does not see its own is found', () => {
    const looked = [...calls, call('exists', '/e/x', [2, 3], { session: 7n })];
    expect(ephemeralFaults(looked, holding(['/e/x', 7n]), live)).toEqual([
      expect.stringMatching(/did not see the ephemeral/),
    ]);
    const after = [...calls, call('exists', '/e/x', [2, 3], { session: 9n })];
    expect(ephemeralFaults(after, holding(['/e/x', 7n]), live)).toEqual([]);
  });
});

describe('members', () => {
  it('with different trees or ephemerals at the end are found', () => {
    expect(equalityFaults([finalState(1), finalState(2)])).toEqual([]);
    expect(equalityFaults([finalState(1), finalState(2, { digest: '0xe' })]).join('\n')).toMatch(
      /member 2 has digest 0xe/,
    );
    expect(equalityFaults([finalState(1), finalState(2, { zxid: '0x8' })]).join('\n')).toMatch(/at 0x8/);
    const other = finalState(2, { ephemerals: new Map([['/e/x', 1n]]) });
    expect(equalityFaults([finalState(1), other]).join('\n')).toMatch(/member 2 has the ephemerals \[\/e\/x 1\]/);
    expect(equalityFaults([])).toEqual(['no member was read at the end']);
  });
});
