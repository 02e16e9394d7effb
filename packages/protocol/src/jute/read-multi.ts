/** Reads the parts of a multi, of writes or of reads. Anything that has no place in it refuses the whole. Source: reference §3.6. */
import { type ByteReader, DecodeError } from '../bytes.ts';
import { MULTI_PARTS_MAX } from '../limits.ts';
import type { MultiPart, ReadPart } from '../op.ts';
import { OP_CODE } from './op-codes.ts';
import { readBool } from './primitives.ts';
import { readCheck, readCreate, readDelete, readPath, readSetData } from './read-parts.ts';
import type { JuteRequest, ReplyForm } from './requests.ts';

/** Throws DecodeError. */
export function readMulti(reader: ByteReader, kind: 'write' | 'read'): JuteRequest {
  const parts: MultiPart[] = [];
  const forms: ReplyForm[] = [];
  const reads: ReadPart[] = [];
  for (let count = 0; ; count++) {
    const type = reader.i32();
    const isDone = readBool(reader);
    reader.i32();
    if (isDone) break;
    // Decoding costs memory: past what is legal nothing is read. The core refuses what is just above.
    if (count > MULTI_PARTS_MAX) throw new DecodeError(`A multi of more than ${MULTI_PARTS_MAX} parts`);
    if (kind === 'read') {
      reads.push(readReadPart(type, reader));
      continue;
    }
    parts.push(readPart(type, reader));
    forms.push(type === OP_CODE.create ? 'plain' : 'withStat');
  }
  if (kind === 'read') return { kind: 'op', op: { kind: 'multiRead', parts: reads }, forms: [] };
  return { kind: 'op', op: { kind: 'multi', parts }, forms };
}

function readPart(type: number, reader: ByteReader): MultiPart {
  switch (type) {
    case OP_CODE.create:
    case OP_CODE.create2:
    case OP_CODE.createContainer:
    case OP_CODE.createTtl: {
      const op = readCreate(type, reader);
      if (typeof op === 'number') throw new DecodeError('Flags of a create that are not known, in a multi');
      return op;
    }
    case OP_CODE.delete:
      return readDelete(reader);
    case OP_CODE.setData:
      return readSetData(reader);
    case OP_CODE.check:
      return readCheck(reader);
    default:
      throw new DecodeError(`A request of type ${type} in a multi`);
  }
}

function readReadPart(type: number, reader: ByteReader): ReadPart {
  if (type !== OP_CODE.getData && type !== OP_CODE.getChildren) {
    throw new DecodeError(`A request of type ${type} in a multi of reads`);
  }
  const path = readPath(reader);
  // A watch in a multi of reads is never set.
  readBool(reader);
  return { kind: type === OP_CODE.getData ? 'getData' : 'getChildren', path };
}
