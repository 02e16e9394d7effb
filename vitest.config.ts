/**
 * The tests by what they need. `npm test` runs unit, tidy and e2e; `npm run test:long` runs long.
 * A file's suffix decides: *.long.e2e.test.ts takes minutes, *.e2e.test.ts starts processes, *.test.ts does neither.
 */
import { defineConfig } from 'vitest/config';

/** Tests read the sources of other packages, not what was built of them. */
const conditions = ['@quorate/source'];
const resolve = { resolve: { conditions }, ssr: { resolve: { conditions } } };

const setupFiles = ['test/patience.ts'];

/** Processes of one test are enough for two cores: these files run one after another, after all others. */
const alone = { setupFiles, fileParallelism: false, testTimeout: 120_000, hookTimeout: 60_000 };

export default defineConfig({
  test: {
    passWithNoTests: false,
    projects: [
      {
        ...resolve,
        test: {
          name: 'unit',
          include: ['packages/*/src/**/*.test.ts', 'test/chaos/analysis/*.test.ts', 'test/model/*.test.ts'],
          exclude: ['test/**/*.e2e.test.ts'],
          testTimeout: 30_000,
          setupFiles,
        },
      },
      { ...resolve, test: { name: 'tidy', include: ['test/tidy/**/*.test.ts'], testTimeout: 60_000 } },
      {
        ...resolve,
        test: {
          name: 'e2e',
          include: ['test/**/*.e2e.test.ts'],
          exclude: ['test/**/*.long.e2e.test.ts'],
          ...alone,
          sequence: { groupOrder: 1 },
        },
      },
      {
        ...resolve,
        test: {
          name: 'long',
          include: ['test/**/*.long.e2e.test.ts'],
          ...alone,
          testTimeout: 900_000,
          sequence: { groupOrder: 2 },
        },
      },
    ],
  },
});
