/** Znodes and stats as text and as JSON. 64-bit values are hex strings: no reader of JSON rounds those. */
import type { Stat, Znode } from '@quorate/client';

/** `0x` and lower-case hex of the unsigned value, as ZooKeeper prints zxids and session ids. */
export function hex(value: bigint): string {
  return `0x${BigInt.asUintN(64, value).toString(16)}`;
}

/** ISO time; the number itself where no calendar reaches. */
export function isoTime(ms: number): string {
  const date = new Date(ms);
  return Number.isNaN(date.getTime()) ? String(ms) : date.toISOString();
}

/** A stat for JSON and, line by line, for text. */
export function statFields(stat: Stat): Record<string, string | number> {
  return {
    czxid: hex(stat.czxid),
    mzxid: hex(stat.mzxid),
    pzxid: hex(stat.pzxid),
    ctime: isoTime(stat.ctimeMs),
    mtime: isoTime(stat.mtimeMs),
    version: stat.version,
    cversion: stat.cversion,
    aversion: stat.aversion,
    ephemeralOwner: hex(stat.ephemeralOwner),
    dataLength: stat.dataLength,
    numChildren: stat.numChildren,
  };
}

/** `name = value`, one a line. */
export function statText(stat: Stat): string {
  return Object.entries(statFields(stat))
    .map(([name, value]) => `${name} = ${value}\n`)
    .join('');
}

/** The data of a znode for JSON: `data` null or a string when it is UTF-8, else `dataBase64`. */
export function dataFields(znode: Znode): Record<string, string | null> {
  if (znode.isNull) return { data: null };
  const text = textOf(znode);
  return text === undefined ? { dataBase64: Buffer.from(znode.data).toString('base64') } : { data: text };
}

/** The data as text, or undefined when it is not UTF-8. */
export function textOf(znode: Znode): string | undefined {
  try {
    return znode.text();
  } catch {
    return undefined;
  }
}
