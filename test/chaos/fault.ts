/** What a fault is: something that begins on a running ensemble and ends again. */
import type { Random } from '@quorate/sim';
import type { Ensemble } from './ensemble.ts';

export interface Fault {
  readonly kind: string;
  /** Only when all is well, and nothing else beside it: it takes away what the others rely on. */
  readonly isAlone?: boolean;
  begin(ensemble: Ensemble, random: Random): Promise<Begun>;
}

export interface Begun {
  /** Whom it hit. */
  readonly about: string;
  /** Takes it back. Never throws because something else is broken, too. */
  end(): Promise<void>;
}
