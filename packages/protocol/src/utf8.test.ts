import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readUtf8, utf8Length, writeUtf8 } from './utf8.ts';

const encoder = new TextEncoder();
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function encode(text: string): Uint8Array {
  const target = new Uint8Array(utf8Length(text));
  expect(writeUtf8(target, 0, text)).toBe(target.length);
  return target;
}

/** What the platform's decoder makes of the bytes, or undefined when it refuses them. */
function platformDecode(bytes: Uint8Array): string | undefined {
  try {
    return decoder.decode(bytes);
  } catch {
    return undefined;
  }
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return readUtf8(bytes, 0, bytes.length);
  } catch (error) {
    expect(error).toBeInstanceOf(RangeError);
    return undefined;
  }
}

describe('UTF-8', () => {
  it('has the bytes that TextEncoder gives, for any string, lone surrogates included', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.array(fc.integer({ min: 0xd700, max: 0xe0ff })).map((units) => String.fromCharCode(...units)),
    );
    fc.assert(
      fc.property(text, (value) => {
        expect(encode(value)).toEqual(new Uint8Array(encoder.encode(value)));
      }),
    );
  });

  it('reads what TextDecoder reads and refuses what it refuses', () => {
    // Bytes that are likely to begin, go on with or break a sequence.
    const byte = fc.constantFrom(
      0x41,
      0x7f,
      0x80,
      0x8f,
      0x90,
      0x9f,
      0xa0,
      0xbf,
      0xc0,
      0xc1,
      0xc2,
      0xdf,
      0xe0,
      0xe1,
      0xed,
      0xef,
      0xf0,
      0xf4,
      0xf5,
      0xff,
    );
    const bytes = fc.oneof(fc.array(byte, { maxLength: 6 }), fc.array(fc.nat(255), { maxLength: 20 }));
    fc.assert(
      fc.property(bytes, (raw) => {
        const value = Uint8Array.from(raw);
        expect(decode(value)).toBe(platformDecode(value));
      }),
      { numRuns: 2000 },
    );
  });

  it.each([
    ['an overlong form', [0xc0, 0x80]],
    ['an overlong form of three bytes', [0xe0, 0x9f, 0xbf]],
    ['a surrogate', [0xed, 0xa0, 0x80]],
    ['a point past the last', [0xf4, 0x90, 0x80, 0x80]],
    ['a sequence cut short', [0xe2, 0x82]],
    ['a lone continuation', [0x80]],
  ])('refuses %s', (_what, bytes) => {
    expect(() => readUtf8(Uint8Array.from(bytes), 0, bytes.length)).toThrow(RangeError);
  });

  it('does not read past the end that it was given', () => {
    const bytes = encoder.encode('a€');
    expect(readUtf8(bytes, 0, 1)).toBe('a');
    expect(() => readUtf8(bytes, 0, 3)).toThrow(RangeError);
    expect(readUtf8(bytes, 1, 4)).toBe('€');
  });

  it('reads texts longer than the piece in which it works, with pairs across its edge', () => {
    for (const text of [
      'x'.repeat(10_000),
      `${'x'.repeat(4095)}\u{1f600}y`,
      '\u{1f600}'.repeat(5000),
      '€'.repeat(4096),
    ]) {
      expect(decode(encode(text))).toBe(text);
    }
  });
});
