/** Equal trees: at equal zxid every member's tree has the same digest, also one that was loaded again from disk. */
import { formatZxid, type Sid, type Zxid } from '@quorate/protocol';
import type { Observation } from '../observation.ts';
import { type Checker, violated } from './checker.ts';

export class EqualDigestChecker implements Checker {
  readonly name = 'equal-digest';
  readonly kinds = ['status', 'started'] as const;
  readonly #digests = new Map<Zxid, { readonly digest: bigint; readonly sid: Sid }>();

  observe(observation: Observation): void {
    if (observation.kind !== 'status' && observation.kind !== 'started') return;
    const { lastZxid, digest } = observation.status;
    const known = this.#digests.get(lastZxid);
    if (known === undefined) {
      this.#digests.set(lastZxid, { digest, sid: observation.sid });
    } else if (known.digest !== digest) {
      const how = observation.kind === 'started' ? ' as loaded from its disk' : '';
      violated(
        this,
        `at ${formatZxid(lastZxid)} the tree of member ${observation.sid}${how} differs from that of member ${known.sid}`,
      );
    }
  }
}
