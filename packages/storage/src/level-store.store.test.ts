import { describe, it } from 'vitest';
import { STORAGE_CONFORMANCE } from './testing/conformance.ts';
import { levelHarness } from './testing/level-harness.ts';

describe('the LevelDB store conforms:', () => {
  it.each(STORAGE_CONFORMANCE)('$name', async (conformance) => {
    const harness = await levelHarness();
    try {
      await conformance.run(harness);
    } finally {
      await harness.dispose();
    }
  });
});
