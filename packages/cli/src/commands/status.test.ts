/** What people read of a member that does not stand as it should. */
import type { ClusterStatus } from '@quorate/client';
import { expect, it } from 'vitest';
import { textOf } from './status.ts';

const STATUS = { sid: 2, role: 'following', waiting: '', divergences: 0 } as unknown as ClusterStatus;
const text = (more: Partial<ClusterStatus>): string => {
  const hex = { zxid: 0n, digest: 0n } as Partial<ClusterStatus>;
  return textOf({ server: 'a:1', status: { ...STATUS, ...hex, ...more } });
};

it('says why a member recovers, and where its former data is', () => {
  expect(text({})).not.toContain('set aside');
  const shown = text({ waiting: 'this voter lost its data', setAside: 'damaged-2026-1: a byte is wrong' });
  expect(shown.split('\n').slice(1, 3)).toEqual([
    '  this voter lost its data',
    '  its data was set aside: damaged-2026-1: a byte is wrong',
  ]);
});
