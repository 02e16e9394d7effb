/** The small parts: the queue, the back-off, the order of members, paths under a chroot, shared signals. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { backoffMs, shuffled } from './backoff.ts';
import { Fifo } from './fifo.ts';
import { Chroot } from './paths.ts';
import { Signals } from './signals.ts';

describe('the queue', () => {
  it('does what an array does', () => {
    const step = fc.oneof(
      fc.nat().map((value) => ['push', value] as const),
      fc.constant(['shift', 0] as const),
      fc.array(fc.nat(), { maxLength: 3 }).map((values) => ['unshiftAll', values] as const),
      fc.constantFrom(['filter', 0] as const, ['takeAll', 0] as const),
    );
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const fifo = new Fifo<number>();
        let model: number[] = [];
        for (const [what, value] of steps) {
          if (what === 'push') {
            fifo.push(value);
            model.push(value);
          } else if (what === 'shift') expect(fifo.shift()).toBe(model.shift());
          else if (what === 'unshiftAll') {
            fifo.unshiftAll(value);
            model.unshift(...value);
          } else if (what === 'filter') {
            fifo.filter((item) => item % 2 === 0);
            model = model.filter((item) => item % 2 === 0);
          } else {
            expect(fifo.takeAll()).toEqual(model);
            model = [];
          }
          expect([...fifo]).toEqual(model);
          expect(fifo.length).toBe(model.length);
          expect(fifo.peek()).toBe(model[0]);
        }
      }),
    );
  });

  it('gives its memory back as it moves on', () => {
    const fifo = new Fifo<number>();
    for (let value = 0; value < 10_000; value++) fifo.push(value);
    for (let value = 0; value < 10_000; value++) expect(fifo.shift()).toBe(value);
    expect(fifo.shift()).toBeUndefined();
    expect(fifo.length).toBe(0);
  });
});

describe('the back-off', () => {
  const backoff = { baseMs: 50, maxMs: 3_000 };

  it('C073: grows twofold to its limit, and any part of it may be drawn', () => {
    const most = [1, 2, 3, 6, 7, 8, 1_000].map((failures) => backoffMs(backoff, failures, () => 0.999_999));
    expect(most).toEqual([49, 99, 199, 1_599, 2_999, 2_999, 2_999]);
    expect(backoffMs(backoff, 8, () => 0)).toBe(0);
  });

  it('C073: tries members in another order for each client, each once', () => {
    const random = () => 0;
    expect(shuffled([1, 2, 3, 4], random)).toEqual([2, 3, 4, 1]);
    fc.assert(
      fc.property(fc.array(fc.nat()), (items) => {
        const sorted = (values: readonly number[]) => [...values].sort((one, other) => one - other);
        expect(sorted(shuffled(items, Math.random))).toEqual(sorted(items));
      }),
    );
  });
});

describe('C162: a path under a chroot', () => {
  it.each([
    ['', '/', false, '/'],
    ['', '/a', false, '/a'],
    ['', '/', true, '/'],
    ['/app', '/', false, '/app'],
    ['/app', '/a', false, '/app/a'],
    ['/app', '/', true, '/app/'],
    ['/app', '/a/', true, '/app/a/'],
  ] as const)('%j %s (sequential %s) is %s to the ensemble', (prefix, path, sequential, inward) => {
    expect(new Chroot(prefix).inward(path, sequential)).toBe(inward);
  });

  it('comes back without it; one outside stays as it is', () => {
    const chroot = new Chroot('/app');
    expect(chroot.outward('/app')).toBe('/');
    expect(chroot.outward('/app/a')).toBe('/a');
    expect(chroot.outward('/apple')).toBe('/apple');
    expect(new Chroot('').outward('/a')).toBe('/a');
  });
});

describe('shared signals', () => {
  it('tell every action once, and none that was taken back', () => {
    const signals = new Signals();
    const controller = new AbortController();
    const told: string[] = [];
    signals.watch(controller.signal, () => told.push('a'));
    signals.watch(controller.signal, () => told.push('b'))();
    signals.watch(controller.signal, () => told.push('c'));
    controller.abort();
    controller.abort();
    expect(told).toEqual(['a', 'c']);
    signals.watch(controller.signal, () => told.push('late'));
    expect(told).toEqual(['a', 'c', 'late']);
  });
});
