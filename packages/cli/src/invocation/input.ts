/** Data as it is given on the command line: DATA itself, @FILE, or - for standard input. Byte for byte. */
import { closeSync, openSync, readSync } from 'node:fs';
import { UsageError } from './failure.ts';

/** Longest data that any znode can hold, bytes; more is not read. */
export const DATA_BYTES_MAX = 1_048_575;

/** What is said of DATA in the help. */
export const DATA_HELP = 'Text, @FILE for what is in a file, - for standard input';

/** The bytes that `text` stands for. Throws UsageError for a file that cannot be read, or for too much. */
export function readData(text: string): Uint8Array {
  if (text === '-') return readAll(0, 'standard input');
  if (!text.startsWith('@')) return new TextEncoder().encode(text);
  const path = text.slice(1);
  let file: number;
  try {
    file = openSync(path, 'r');
  } catch (error) {
    throw new UsageError(`Cannot read ${path}: ${(error as Error).message}`);
  }
  try {
    return readAll(file, path);
  } finally {
    closeSync(file);
  }
}

function readAll(file: number, name: string): Uint8Array {
  const bytes = new Uint8Array(DATA_BYTES_MAX + 1);
  let length = 0;
  while (length < bytes.length) {
    const read = readSome(file, bytes, length, name);
    if (read === 0) return bytes.slice(0, length);
    length += read;
  }
  throw new UsageError(`${name} holds more than the ${DATA_BYTES_MAX} bytes that a znode can hold`);
}

/** Time between two looks at a standard input that has nothing yet, ms. */
const WAIT_MS = 10;

function readSome(file: number, bytes: Uint8Array, offset: number, name: string): number {
  for (;;) {
    try {
      return readSync(file, bytes, offset, bytes.length - offset, null);
    } catch (error) {
      const { code, message } = error as NodeJS.ErrnoException;
      if (code === 'EOF') return 0;
      if (code !== 'EAGAIN') throw new UsageError(`Cannot read ${name}: ${message}`);
      // Standard input is a pipe or terminal in non-blocking mode, and empty as yet.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, WAIT_MS);
    }
  }
}
