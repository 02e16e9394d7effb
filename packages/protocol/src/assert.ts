/** Assertions stay on in production: a broken invariant stops the member rather than spread. */

/** Thrown when an invariant is broken. Never caught to carry on. */
export class AssertionError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'AssertionError';
  }
}

/** Throws AssertionError unless `condition` holds. The message is built only then. */
export function assert(condition: boolean, message: () => string): asserts condition {
  if (!condition) throw new AssertionError(message());
}

/** For the `default` of an exhaustive switch: does not compile while a variant is missing. */
export function unreachable(value: never): never {
  const { kind } = (value ?? {}) as { readonly kind?: string };
  throw new AssertionError(`Unreachable: ${kind ?? String(value)}`);
}
