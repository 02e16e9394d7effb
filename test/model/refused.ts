/** Why the model does not do what it is asked for. */
/** Only codes and paths of failures are compared: wording is the product's. */
export interface ModelFailure {
  readonly kind: 'error';
  readonly code: string;
  readonly path: string | undefined;
  /** The part of a multi that failed. */
  readonly part?: number | undefined;
}

export class ModelRefusal extends Error {
  readonly failure: ModelFailure;
  /** What was asked for can never be right: said before anything else. */
  readonly byForm: boolean;

  constructor(code: string, path?: string, more: { readonly part?: number; readonly byForm?: boolean } = {}) {
    super(code);
    this.failure = { kind: 'error', code, path, part: more.part };
    this.byForm = more.byForm ?? (code === 'INVALID_ARGUMENT' && more.part === undefined);
  }
}
