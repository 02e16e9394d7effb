/**
 * How long a reply is, and what becomes of a list that no reply can carry. Both fronts of gRPC ask here: a frame of a stream and a
 * unary response have the same limit, which is also what gRPC clients read of one message when nobody tells them otherwise.
 */
import { type Answer, FRAME_BYTES_MAX, type ListingResult, type PartResult, utf8Length } from '@quorate/protocol';
import type { StreamAnswer } from '@quorate/protocol/frames';

/** Around what can be large: tags, lengths, numbers, a stat. */
const REPLY_OVERHEAD_BYTES = 256;

/** What a znode in a page takes beside its name and data, at most. */
const LISTED_BYTES = 120;

/** An answer that a message can carry, and the bytes that it takes there: never less than it does. */
export interface SizedAnswer<A extends StreamAnswer = Answer> {
  readonly answer: A;
  readonly bytes: number;
}

/** The answer, or, when it lists more than a message can carry, the refusal in its place. */
export function sized(answer: Answer): SizedAnswer;
export function sized(answer: StreamAnswer): SizedAnswer<StreamAnswer>;
export function sized(answer: StreamAnswer): SizedAnswer<StreamAnswer> {
  const bytes = replyBytes(answer);
  const list = listOf(answer.result);
  if (list === undefined || bytes <= FRAME_BYTES_MAX) return { answer, bytes };
  const what = answer.result.kind === 'getChildren' ? 'children' : 'ephemerals';
  const message = `Cannot list ${list.length} ${what}: they take ${bytes} bytes, a reply carries ${FRAME_BYTES_MAX}`;
  const refused = { kind: 'error', code: 'INVALID_ARGUMENT', path: undefined, message } as const;
  return { answer: { zxid: answer.zxid, result: refused }, bytes: REPLY_OVERHEAD_BYTES };
}

/** Exact but for the overhead, of which a little is left. */
function replyBytes({ result }: Pick<StreamAnswer, 'result'>): number {
  if (result.kind === 'getData') return REPLY_OVERHEAD_BYTES + (result.data?.length ?? 0);
  if (result.kind === 'listChildren' || result.kind === 'getSubtree') return pageBytes(result);
  let bytes = REPLY_OVERHEAD_BYTES;
  if (result.kind === 'addAuth') {
    for (const { scheme, id } of result.identities) bytes += 8 + fieldBytes(scheme) + fieldBytes(id);
  }
  // What may be read at once is bounded where it is read.
  if (result.kind === 'multiRead') for (const part of result.results) bytes += replyBytes({ result: part });
  if (result.kind === 'multi') for (const part of result.results) bytes += partBytes(part);
  for (const name of listOf(result) ?? []) bytes += fieldBytes(name);
  return bytes;
}

/** No less than it takes. Pages are never too long: the core ends them long before. */
function pageBytes({ entries }: ListingResult): number {
  return entries.reduce(
    (sum, { name, data }) => sum + LISTED_BYTES + name.length * 3 + (data?.length ?? 0),
    REPLY_OVERHEAD_BYTES,
  );
}

function partBytes(part: PartResult): number {
  const path = part.kind === 'create' ? 3 * part.path.length : 0;
  return REPLY_OVERHEAD_BYTES + path + (part.kind === 'getData' ? (part.data?.length ?? 0) : 0);
}

function listOf(result: StreamAnswer['result']): readonly string[] | undefined {
  if (result.kind === 'getChildren') return result.children;
  return result.kind === 'getEphemerals' ? result.paths : undefined;
}

/** Tag, length and text of one entry. */
function fieldBytes(text: string): number {
  const length = utf8Length(text);
  return 1 + (length < 0x80 ? 1 : length < 0x4000 ? 2 : 3) + length;
}
