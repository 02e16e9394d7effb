/**
 * UTF-8 without Node or DOM types, so that `core` can use it.
 * A lone surrogate is written as U+FFFD, as TextEncoder does; decoding is strict and throws RangeError.
 */
import { isAscii, LATIN1_MAX, readLatin1 } from './latin1.ts';

/** Number of bytes that `text` takes in UTF-8. */
export function utf8Length(text: string): number {
  let bytes = text.length;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit < 0x80) continue;
    if (unit < 0x800) bytes += 1;
    else if (isHigh(unit) && i + 1 < text.length && isLow(text.charCodeAt(i + 1))) {
      bytes += 2;
      i++;
    } else bytes += 2;
  }
  return bytes;
}

/** Writes `text` at `offset`; the caller has made room for `utf8Length(text)` bytes. Returns the offset after it. */
export function writeUtf8(target: Uint8Array, offset: number, text: string): number {
  let at = offset;
  for (let i = 0; i < text.length; i++) {
    let point = text.charCodeAt(i);
    if (point < 0x80) {
      target[at++] = point;
      continue;
    }
    if (isHigh(point) && i + 1 < text.length && isLow(text.charCodeAt(i + 1))) {
      point = 0x10000 + ((point - 0xd800) << 10) + (text.charCodeAt(++i) - 0xdc00);
    } else if (point >= 0xd800 && point <= 0xdfff) point = 0xfffd;
    at = writePoint(target, at, point);
  }
  return at;
}

function writePoint(target: Uint8Array, offset: number, point: number): number {
  let at = offset;
  if (point < 0x800) target[at++] = 0xc0 | (point >> 6);
  else {
    if (point < 0x10000) target[at++] = 0xe0 | (point >> 12);
    else {
      target[at++] = 0xf0 | (point >> 18);
      target[at++] = 0x80 | ((point >> 12) & 0x3f);
    }
    target[at++] = 0x80 | ((point >> 6) & 0x3f);
  }
  target[at++] = 0x80 | (point & 0x3f);
  return at;
}

/** Code units gathered before they become a string; keeps the argument list of fromCharCode short. */
const PIECE = 4096;

/** Reads bytes `start..end` as UTF-8. Throws RangeError on anything that is not well-formed UTF-8. */
export function readUtf8(source: Uint8Array, start: number, end: number): string {
  // As nearly all of them are: paths, names.
  if (end - start <= LATIN1_MAX && isAscii(source, start, end)) return readLatin1(source, start, end);
  let text = '';
  let units: number[] = [];
  for (let at = start; at < end; ) {
    const lead = source[at] as number;
    if (lead < 0x80) {
      units.push(lead);
      at++;
    } else {
      const length =
        lead >= 0xc2 && lead < 0xe0 ? 2 : lead >= 0xe0 && lead < 0xf0 ? 3 : lead >= 0xf0 && lead < 0xf5 ? 4 : 0;
      if (length === 0 || at + length > end) throw new RangeError(`Bad UTF-8 at byte ${at - start}`);
      const point = readPoint(source, at, length, start);
      if (point < 0x10000) units.push(point);
      else units.push(0xd800 + ((point - 0x10000) >> 10), 0xdc00 + ((point - 0x10000) & 0x3ff));
      at += length;
    }
    if (units.length >= PIECE) {
      text += String.fromCharCode(...units);
      units = [];
    }
  }
  return units.length === 0 ? text : text + String.fromCharCode(...units);
}

function readPoint(source: Uint8Array, at: number, length: number, start: number): number {
  let point = (source[at] as number) & (0xff >> (length + 1));
  for (let i = 1; i < length; i++) {
    const next = source[at + i] as number;
    if ((next & 0xc0) !== 0x80) throw new RangeError(`Bad UTF-8 at byte ${at + i - start}`);
    point = (point << 6) | (next & 0x3f);
  }
  const least = length === 2 ? 0x80 : length === 3 ? 0x800 : 0x10000;
  if (point < least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff)) {
    throw new RangeError(`Bad UTF-8 at byte ${at - start}`);
  }
  return point;
}

function isHigh(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}

function isLow(unit: number): boolean {
  return unit >= 0xdc00 && unit <= 0xdfff;
}
