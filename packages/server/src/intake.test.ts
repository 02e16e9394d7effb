import type { PeerEvent } from '@quorate/core';
import { describe, expect, it } from 'vitest';
import { Intake } from './intake.ts';

const chunk = (link: number): PeerEvent => ({
  kind: 'peerMessage',
  sid: 2,
  link,
  message: { kind: 'stateChunk', records: [] },
});
const ping: PeerEvent = { kind: 'peerMessage', sid: 2, link: 1, message: { kind: 'ping', seq: 1 } };

function setUp() {
  const holds: string[] = [];
  const disk = { backlogBytes: 0 };
  const links = { hold: (_: number, link: number, isHeld: boolean) => void holds.push(`${link} ${isHeld}`) };
  return { holds, disk, intake: new Intake(links, () => disk.backlogBytes) };
}

describe('intake', () => {
  it('gives events in the order in which they came, also those that come between', () => {
    const { intake } = setUp();
    const events = [ping, chunk(1), { kind: 'tick' } as const, chunk(2)];
    for (const event of events.slice(0, 3)) intake.push(event);
    const taken = [intake.shift()];
    intake.push(events[3]!);
    while (intake.length > 0) taken.push(intake.shift());
    expect([taken, intake.shift(), intake.length]).toEqual([events, undefined, 0]);
  });

  it('has a link with many large messages held until they are taken, and no other one, whatever small ones there are', () => {
    const { intake, holds } = setUp();
    for (let i = 0; i < 100; i++) intake.push(ping);
    for (let i = 0; i < 3; i++) intake.push(chunk(1));
    intake.push(chunk(2));
    expect(holds).toEqual([]);
    for (let i = 0; i < 3; i++) intake.push(chunk(1));
    expect(holds).toEqual(['1 true']);
    while (intake.length > 1) intake.shift();
    expect(holds).toEqual(['1 true']);
    intake.shift();
    expect(holds.at(-1)).toBe('1 false');
    // And anew.
    for (let i = 0; i < 4; i++) intake.push(chunk(1));
    expect(holds.at(-1)).toBe('1 true');
  });

  it('has a link held, too, while much of what came by it waits for the disk', () => {
    const { intake, holds, disk } = setUp();
    intake.push(chunk(1));
    intake.push(chunk(1));
    disk.backlogBytes = 8 * 1024 * 1024 + 1;
    intake.shift();
    expect(holds).toEqual(['1 true']);
    intake.relieve();
    disk.backlogBytes = 4 * 1024 * 1024 + 1;
    intake.shift();
    expect(holds).toEqual(['1 true', '1 false']);
    intake.push(chunk(1));
    disk.backlogBytes = 16 * 1024 * 1024;
    intake.shift();
    intake.relieve();
    expect(holds).toHaveLength(3);
    disk.backlogBytes = 4 * 1024 * 1024;
    intake.relieve();
    intake.relieve();
    expect(holds).toEqual(['1 true', '1 false', '1 true', '1 false']);
  });

  it('keeps what is to be kept, and never loses the count of a link', () => {
    const { intake, holds } = setUp();
    intake.push({ kind: 'tick' });
    for (let i = 0; i < 4; i++) intake.push(chunk(1));
    intake.push({ kind: 'checkpointReady' });
    intake.shift();
    intake.filter(({ kind }) => kind !== 'checkpointReady');
    expect(intake.length).toBe(4);
    while (intake.shift() !== undefined);
    expect(holds).toEqual(['1 true', '1 false']);
  });
});
