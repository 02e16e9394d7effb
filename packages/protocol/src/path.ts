/**
 * Rules for znode paths, and taking them apart. Source: ZooKeeper `PathUtils`, reference §5.1.
 * Paths are compared code unit by code unit: no case folding, no Unicode normalisation.
 */

/** Why `path` is not a legal znode path, as the end of a sentence, or undefined when it is legal. */
export function pathFault(path: string): string | undefined {
  if (path.length === 0) return 'it is empty';
  if (path.charCodeAt(0) !== 0x2f) return 'it does not start with /';
  if (path.length === 1) return undefined;
  if (path.charCodeAt(path.length - 1) === 0x2f) return 'it ends with /';
  let start = 1;
  for (let i = 1; i <= path.length; i++) {
    const unit = i === path.length ? 0x2f : path.charCodeAt(i);
    if (unit === 0x2f) {
      const fault = segmentFault(path, start, i);
      if (fault !== undefined) return fault;
      start = i + 1;
    } else if (isForbidden(unit)) {
      return `it has the forbidden character U+${unit.toString(16).toUpperCase().padStart(4, '0')} at position ${i}`;
    }
  }
  return undefined;
}

function segmentFault(path: string, start: number, end: number): string | undefined {
  const length = end - start;
  if (length === 0) return `it has an empty name at position ${start}`;
  if (path.charCodeAt(start) !== 0x2e) return undefined;
  if (length === 1) return `it has the relative name . at position ${start}`;
  if (length === 2 && path.charCodeAt(start + 1) === 0x2e) return `it has the relative name .. at position ${start}`;
  return undefined;
}

/** Controls, surrogates and private use, and the specials block: code units that no path may have. */
function isForbidden(unit: number): boolean {
  if (unit >= 0x20 && unit < 0x7f) return false;
  return unit < 0xa0 || (unit >= 0xd800 && unit <= 0xf8ff) || unit >= 0xfff0;
}

/** The parent of a legal path other than `/`. */
export function parentOf(path: string): string {
  const cut = path.lastIndexOf('/');
  return cut <= 0 ? '/' : path.slice(0, cut);
}

/** The last name of a path. */
export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1);
}

/** The path of the child `name` of `parent`. */
export function childPath(parent: string, name: string): string {
  return parent === '/' ? `/${name}` : `${parent}/${name}`;
}

/**
 * What a sequential create appends: the signed 32-bit counter in ten places, zero padded. As in ZooKeeper's `%010d` a
 * sign takes one of the ten, and only -2147483648..-1000000000 need eleven.
 */
export function sequenceSuffix(counter: number): string {
  return counter < 0 ? `-${String(-counter).padStart(9, '0')}` : String(counter).padStart(10, '0');
}
