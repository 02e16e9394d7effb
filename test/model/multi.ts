/** The model's multi: its parts one after another; the first that fails is named, and nothing of any is left. */
import type { MultiPart, PartResult } from '@quorate/protocol';
import { RIGHTS, requireRight } from './acls.ts';
import {
  type ModelOp,
  type ModelResult,
  type Place,
  type ReferenceModel,
  requirePath,
  requireVersion,
} from './reference.ts';
import { ModelRefusal } from './refused.ts';
import * as simple from './simple-ops.ts';

export const multi: ModelOp<'multi'> = (model, { parts }, place) => {
  const results = parts.map((part, index) => {
    try {
      return carryOutPart(model, part, place);
    } catch (error) {
      if (!(error instanceof ModelRefusal)) throw error;
      throw new ModelRefusal(error.failure.code, error.failure.path, { part: index });
    }
  });
  return { kind: 'multi', results: results as PartResult[] };
};

function carryOutPart(model: ReferenceModel, part: MultiPart, place: Place): ModelResult | PartResult {
  switch (part.kind) {
    case 'create':
      if (part.parents === true) throw new ModelRefusal('INVALID_ARGUMENT', part.path);
      return simple.create(model, part, place);
    case 'delete':
      return simple.remove(model, part, place);
    case 'setData':
      return simple.setData(model, part, place);
    case 'exists':
      requirePath(part.path);
      return model.znodes.has(part.path) ? simple.exists(model, part, place) : { kind: 'exists', stat: undefined };
    case 'getData':
      return simple.getData(model, part, place);
    case 'check':
      requirePath(part.path);
      if (part.absent === true) {
        if (part.expectedVersion !== undefined) throw new ModelRefusal('INVALID_ARGUMENT', part.path);
        if (model.znodes.has(part.path)) throw new ModelRefusal('NODE_EXISTS', part.path);
        return { kind: 'check' };
      }
      requireRight(model.existing(part.path), RIGHTS.read, part.path);
      requireVersion(part.path, model.existing(part.path), part.expectedVersion);
      return { kind: 'check' };
  }
}
