/**
 * What a configuration key is: how its value is read, what is allowed, and its default. One key has three names, made
 * mechanically from one: `dataDir` in a file, `--data-dir` as a flag, `QUORATE_DATA_DIR` in the environment.
 */
import { type Fault, MEMBERS_ALLOWED, type MemberAddress, parseMembers } from './members.ts';

/** One key. `parse` takes text (flag, environment) or what YAML made of it. */
export interface Key<T> {
  /** Heading in help and documentation. */
  readonly group: KeyGroup;
  /** What it is for, without a period; the unit is in the key's name. */
  readonly help: string;
  /** What is allowed, as the end of a sentence "must be ...". */
  readonly allowed: string;
  /** Undefined when it is computed (see `defaultText`) or there is none. */
  readonly default: T | undefined;
  /** The default as shown in help. */
  readonly defaultText: string;
  /** Given as a flag it needs no value: that means true. */
  readonly isSwitch: boolean;
  /** Never shown: not in logs, not by the commands that print a configuration. */
  readonly isSecret: boolean;
  parse(raw: unknown): T | Fault;
}

export type KeyGroup = 'Identity' | 'Addresses' | 'Timing' | 'Limits' | 'Operation';

interface About<T> {
  readonly group: KeyGroup;
  readonly help: string;
  readonly default?: T;
  /** Said instead of `default` when the default is computed from other keys. */
  readonly defaultText?: string;
  readonly isSecret?: boolean;
}

/** A whole number in `min..max`, both included. */
export function integer(about: About<number> & { readonly min: number; readonly max: number }): Key<number> {
  const { min, max } = about;
  return {
    ...common(about),
    allowed: `a whole number in ${min}..${max}`,
    parse(raw) {
      const value = typeof raw === 'string' && /^\s*-?\d+\s*$/.test(raw) ? Number(raw) : raw;
      if (typeof value !== 'number' || !Number.isSafeInteger(value)) return { fault: 'it is not a whole number' };
      return value < min || value > max ? { fault: 'it is out of range' } : value;
    },
  };
}

/** Text that `accepts` takes; `allowed` says what that is. */
export function text(
  about: About<string> & { readonly allowed: string; readonly accepts: (value: string) => boolean },
): Key<string> {
  return {
    ...common(about),
    allowed: about.allowed,
    parse(raw) {
      // A YAML number may be meant as text (a cluster id of digits), but never a list or an object.
      const value = typeof raw === 'number' ? String(raw) : raw;
      if (typeof value !== 'string') return { fault: 'it is not text' };
      return about.accepts(value) ? value : { fault: 'it is not allowed' };
    },
  };
}

/** One word of a fixed set. */
export function choice<const T extends string>(about: About<T> & { readonly of: readonly T[] }): Key<T> {
  return {
    ...common(about),
    allowed: `one of ${about.of.join(', ')}`,
    parse: (raw) => about.of.find((word) => word === raw) ?? { fault: 'it is not one of them' },
  };
}

/** True or false. */
export function toggle(about: About<boolean>): Key<boolean> {
  return {
    ...common(about),
    allowed: 'true or false',
    isSwitch: true,
    parse(raw) {
      if (typeof raw === 'boolean') return raw;
      // A flag without a value is an empty text.
      if (raw === 'true' || raw === '') return true;
      return raw === 'false' ? false : { fault: 'it is neither' };
    },
  };
}

/** The ensemble's members. */
export function members(about: About<readonly MemberAddress[]>): Key<readonly MemberAddress[]> {
  return { ...common(about), allowed: MEMBERS_ALLOWED, parse: parseMembers };
}

function common<T>(
  about: About<T>,
): Pick<Key<T>, 'group' | 'help' | 'default' | 'defaultText' | 'isSwitch' | 'isSecret'> {
  const { group, help, isSecret = false } = about;
  const defaultText = about.defaultText ?? (about.default === undefined ? 'none' : String(about.default));
  return { group, help, default: about.default, defaultText, isSwitch: false, isSecret };
}

/** `dataDir` → `data-dir`. */
export function flagName(key: string): string {
  return key.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
}

/** `dataDir` → `QUORATE_DATA_DIR`. */
export function environmentName(key: string): string {
  return `QUORATE_${flagName(key).replaceAll('-', '_').toUpperCase()}`;
}
