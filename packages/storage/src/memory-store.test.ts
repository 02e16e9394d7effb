import { describe, it } from 'vitest';
import { STORAGE_CONFORMANCE } from './testing/conformance.ts';
import { memoryHarness } from './testing/memory-harness.ts';

describe('the memory twin conforms:', () => {
  it.each(STORAGE_CONFORMANCE)('$name', async (conformance) => {
    const harness = memoryHarness();
    await conformance.run(harness);
    await harness.dispose();
  });
});
