/**
 * A condition that a test awaits has 20 s where the test names no time: how fast a machine is must not decide what passes. What
 * must come soon says so itself. Loaded by the runner before every file.
 */
import { vi } from 'vitest';

const PATIENCE_MS = 20_000;

const waitFor = vi.waitFor;
vi.waitFor = (condition, options = PATIENCE_MS) => waitFor(condition, options);
