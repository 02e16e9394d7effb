import { describe, expect, it } from 'vitest';
import { FeedStage } from './feeds.fixture.ts';

describe('the state of a znode with many children', () => {
  it('is told in order, once that is made, which no turn makes as a whole; changes meanwhile come in their places', () => {
    const stage = new FeedStage();
    const { script, feeds } = stage;
    script.create('/p');
    const name = (number: number): string => `n${(number * 1_009) % 6_007}`;
    for (let number = 0; number < 6_000; number++) script.create(`/p/${name(number)}`);
    const reader = stage.open({ path: '/p', withValues: false });
    let turns = 0;
    for (; reader.words.at(-1) !== 'ready' && turns < 100; turns++) {
      feeds.turnEnded();
      feeds.taken(stage.numberOf(reader));
      if (turns === 1) script.delete(`/p/${name(0)}`);
      if (turns === 2) script.create('/p/between');
      if (turns === 3) script.setData(`/p/${name(5)}`, new Uint8Array(1));
    }
    expect(reader.words.at(-1)).toBe('ready');
    // 8000 units of work in a turn are 2000 children that are put in order, or told.
    expect(turns).toBeGreaterThanOrEqual(6);
    const current = reader.words.filter((word) => word.startsWith('current /p/'));
    expect(current).toEqual([...current].sort());
    expect(reader.state).toEqual(stage.expected(reader.spec));
  });
});
