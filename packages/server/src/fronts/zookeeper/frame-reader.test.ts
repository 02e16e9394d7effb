import { describe, expect, it } from 'vitest';
import { FrameError, FrameReader } from './frame-reader.ts';

function frame(text: string): Buffer {
  const bytes = Buffer.alloc(4 + text.length);
  bytes.writeInt32BE(text.length);
  bytes.write(text, 4, 'latin1');
  return bytes;
}

describe('frames', () => {
  it('are found however the socket cuts them', () => {
    const stream = Buffer.concat([frame('one'), frame(''), frame('three'.repeat(50)), frame('4')]);
    for (let size = 1; size <= stream.length; size++) {
      const reader = new FrameReader(1000);
      const found: string[] = [];
      for (let at = 0; at < stream.length; at += size) {
        reader.push(stream.subarray(at, at + size));
        for (let one = reader.next(); one !== undefined; one = reader.next()) found.push(one.toString('latin1'));
      }
      expect(found).toEqual(['one', '', 'three'.repeat(50), '4']);
      expect(reader.bytes).toBe(0);
    }
  });

  it('may be as long as is legal, and not longer', () => {
    const reader = new FrameReader(10);
    reader.push(frame('0123456789'));
    expect(reader.next()?.length).toBe(10);
    reader.push(frame('0123456789a'));
    expect(() => reader.next()).toThrow(FrameError);
  });

  it.each([-1, 0x7fff_ffff, -0x8000_0000])(
    'C167: of a length of %i are refused before anything is held for them',
    (length) => {
      const reader = new FrameReader(1_048_575);
      const head = Buffer.alloc(4);
      head.writeInt32BE(length);
      reader.push(head);
      expect(() => reader.next()).toThrow(`a frame of ${length} bytes`);
      expect(reader.bytes).toBe(4);
    },
  );

  it('do not lose what is only looked at', () => {
    const reader = new FrameReader(100);
    const bytes = frame('look');
    reader.push(bytes.subarray(0, 2));
    expect(reader.peek()).toBeUndefined();
    reader.push(bytes.subarray(2));
    expect(reader.peek()?.readInt32BE()).toBe(4);
    expect(reader.next()?.toString()).toBe('look');
  });
});
