import { defineConfig } from 'vitest/config';

export default defineConfig({
  resolve: { conditions: ['@quorate/source'] },
  ssr: { resolve: { conditions: ['@quorate/source'] } },
  test: {
    include: ['packages/*/src/**/*.test.ts', 'test/**/*.test.ts'],
    passWithNoTests: false,
    testTimeout: 30_000,
  },
});
