/**
 * A small reader of TypeScript text: which characters are code, and which modules a file imports.
 * Enough for tidy rules, not a parser; the compiler has no API that JavaScript could call.
 */

/** One import or re-export. */
export interface Import {
  readonly specifier: string;
  /** From 1. */
  readonly line: number;
}

/** A source text twice over, with the same length and lines as the original. */
export interface Reading {
  /** Comments, strings and regular expressions are blank. */
  readonly code: string;
  /** Only comments are blank. */
  readonly uncommented: string;
}

/** A slash after one of these begins a regular expression, not a division. */
const BEFORE_REGEX =
  /(?:^|[([{,;=:!&|?+\-*%~^<>]|\b(?:return|typeof|case|in|of|do|else|void|delete|throw|new|await))\s*$/;

/** Blanks a text but keeps its line breaks, so that offsets and lines stay true. */
function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

/** End of the quoted string or regular expression that begins at `at`. */
function endOfQuoted(text: string, at: number): number {
  const quote = text[at]!;
  let inClass = false;
  for (let i = at + 1; i < text.length; i++) {
    const c = text[i]!;
    if (c === '\\') i++;
    else if (c === '\n') return i;
    else if (quote === '/' && c === '[') inClass = true;
    else if (quote === '/' && c === ']') inClass = false;
    else if (c === quote && !inClass) return i + 1;
  }
  return text.length;
}

/** Where `what` ends when searched from `at`; the end of the text when it is not there. */
function endOf(text: string, what: string, at: number, including: boolean): number {
  const found = text.indexOf(what, at);
  if (found < 0) return text.length;
  return including ? found + what.length : found;
}

class Reader {
  code = '';
  uncommented = '';
  #at = 0;
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** Reads code to the end, or past the brace that closes a template's `${`. */
  readCode(inTemplate: boolean): void {
    let depth = 0;
    while (this.#at < this.#text.length) {
      const c = this.#text[this.#at]!;
      if (this.#sees('//')) this.#comment(endOf(this.#text, '\n', this.#at, false));
      else if (this.#sees('/*')) this.#comment(endOf(this.#text, '*/', this.#at + 2, true));
      else if (c === "'" || c === '"') this.#quoted(endOfQuoted(this.#text, this.#at));
      else if (c === '/' && BEFORE_REGEX.test(this.code.slice(-200))) this.#quoted(endOfQuoted(this.#text, this.#at));
      else if (c === '`') this.#template();
      else {
        if (c === '{') depth++;
        if (c === '}' && depth-- === 0 && inTemplate) return;
        this.code += c;
        this.uncommented += c;
        this.#at++;
      }
    }
  }

  /** Text of a template is a string; what stands in `${}` is code. */
  #template(): void {
    this.#quoted(this.#at + 1);
    while (this.#at < this.#text.length) {
      if (this.#sees('`')) return this.#quoted(this.#at + 1);
      if (this.#sees('${')) {
        this.#quoted(this.#at + 2);
        this.readCode(true);
        this.#quoted(this.#at + 1);
      } else this.#quoted(this.#at + (this.#sees('\\') ? 2 : 1));
    }
  }

  #sees(what: string): boolean {
    return this.#text.startsWith(what, this.#at);
  }

  #comment(end: number): void {
    const blanked = blank(this.#text.slice(this.#at, end));
    this.code += blanked;
    this.uncommented += blanked;
    this.#at = end;
  }

  #quoted(end: number): void {
    const part = this.#text.slice(this.#at, end);
    this.code += blank(part);
    this.uncommented += part;
    this.#at = end;
  }
}

/** Tells code from comments and strings. */
export function read(text: string): Reading {
  const reader = new Reader(text);
  reader.readCode(false);
  return { code: reader.code, uncommented: reader.uncommented };
}

const IMPORT =
  /\b(?:import|export)\b[^'"`;()]*?\bfrom\s*['"]([^'"]+)['"]|\bimport\s*['"]([^'"]+)['"]|\bimport\s*\(\s*['"]([^'"]+)['"]/g;

/** Every module that the text imports or re-exports from, statically or by import(). */
export function importsOf(text: string): readonly Import[] {
  const { code, uncommented } = read(text);
  const found: Import[] = [];
  for (const match of uncommented.matchAll(IMPORT)) {
    if (!/^(?:import|export)/.test(code.slice(match.index))) continue;
    const specifier = match[1] ?? match[2] ?? match[3]!;
    found.push({ specifier, line: lineAt(text, match.index) });
  }
  return found;
}

/** Line number, from 1, of an offset. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}
