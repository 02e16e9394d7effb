/**
 * What the model does about a session's numbered writes: one that has a result which is kept gets that again; one that comes after
 * later ones, or whose result was forgotten, is refused; any other is carried out, and what it comes to is kept.
 */
import { type Guard, NO_SESSION, type Numbered } from '@quorate/protocol';
import type { OrderedOp } from '../../packages/core/src/pipeline/write-request.ts';
import { type Outcome, write } from './ops.ts';
import type { Place, ReferenceModel } from './reference.ts';

export function writeNumbered(
  model: ReferenceModel,
  op: OrderedOp,
  place: Place,
  numbered: Numbered | undefined,
  guards: readonly Guard[] = [],
): Outcome {
  const session = model.sessions.get(place.session);
  const isCounted = op.kind !== 'createSession' && op.kind !== 'closeSession' && place.session !== NO_SESSION;
  if (numbered === undefined || session === undefined || !isCounted) return write(model, op, place, guards);
  const { request, acknowledged } = numbered;
  const first = session.results.get(request);
  if (first !== undefined) return { ...first, changes: [] };
  if (request <= session.last) {
    return { zxid: place.zxid, result: { kind: 'error', code: 'OUT_OF_ORDER', path: undefined }, changes: [] };
  }
  const outcome = write(model, op, place, guards);
  // The write may have been taken back, and the session with it.
  const { results } = model.sessions.get(place.session)!;
  for (const number of [...results.keys()]) if (number <= acknowledged) results.delete(number);
  results.set(request, { zxid: outcome.zxid, result: outcome.result });
  model.sessions.get(place.session)!.last = request;
  return outcome;
}
