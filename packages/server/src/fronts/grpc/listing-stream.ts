/**
 * StreamChildren and StreamSubtree: the pages of a listing one after another. The next page is asked for when the one before it has left
 * for the client, so that nothing is queued here for one that does not read; the core gives its listing up in time.
 */
import { Metadata, type ServerWritableStream, type UntypedServiceImplementation } from '@grpc/grpc-js';
import { type Answer, type Identity, type ListingOp, NO_SESSION, type OpFailure } from '@quorate/protocol';
import { ERROR_DETAIL_KEY } from '@quorate/protocol/frames';
import {
  asBuffer,
  isUnaryFailure,
  toUnaryFailure,
  toUnaryResponse,
  type UnaryCall,
  ZNODE_CALLS,
} from '@quorate/protocol/grpc';
import { type CoreAccess, deadlineAfter } from '../core-access.ts';
import { identitiesShown } from './unary.ts';

type Stream = ServerWritableStream<{ readonly list: object | null }, { readonly page: object }>;

/** The handlers, by method name. */
export function listingStreams(core: CoreAccess): UntypedServiceImplementation {
  const handler = (method: 'ListChildren' | 'GetSubtree') => (stream: Stream) => {
    const read = ZNODE_CALLS[method] as (request: never) => UnaryCall;
    const { list } = stream.request;
    new ListingStream(core, stream).start(list === null ? undefined : read(list as never));
  };
  return { StreamChildren: handler('ListChildren'), StreamSubtree: handler('GetSubtree') };
}

class ListingStream {
  readonly #core: CoreAccess;
  readonly #stream: Stream;
  #identities: readonly Identity[] = [];
  /** Asks for the next page; undefined when there is none. */
  #next: ListingOp | undefined;
  #isGone = false;

  constructor(core: CoreAccess, stream: Stream) {
    this.#core = core;
    this.#stream = stream;
  }

  start(call: UnaryCall | undefined): void {
    const stream = this.#stream;
    // Without this listener a broken stream would end the process.
    stream.on('error', () => this.#gone());
    stream.once('cancelled', () => this.#gone());
    stream.once('close', () => this.#gone());
    const fault = this.#core.refusal();
    if (fault !== undefined) return this.#fail({ code: 'UNAVAILABLE', path: undefined, message: fault });
    if (call === undefined) {
      return this.#fail({ code: 'INVALID_ARGUMENT', path: undefined, message: 'The request names nothing to list' });
    }
    const identities = identitiesShown(this.#core, stream);
    if ('code' in identities) return this.#fail(identities);
    this.#identities = identities;
    // Of these two methods a call is a listing.
    this.#ask(call.op as ListingOp, call.linearizable);
  }

  #ask(op: ListingOp, linearizable: boolean): void {
    const callId = this.#core.calls.add({ answer: (answer) => this.#answered(op, answer) });
    this.#post(callId, op, linearizable);
  }

  #post(callId: number, op: ListingOp, linearizable: boolean): void {
    const identities = this.#identities;
    const common = { session: NO_SESSION, attachment: 0, token: undefined, deadlineMs: deadlineAfter(0) };
    this.#core.post({ kind: 'call', call: { callId, op, identities, linearizable, ...common } });
  }

  #answered(op: ListingOp, answer: Answer): void {
    const page = toUnaryResponse(op.kind, answer);
    const { result } = answer;
    if (isUnaryFailure(page) || !('entries' in result)) {
      this.#next = undefined;
      if (result.kind === 'error') this.#fail(result);
      return;
    }
    this.#next = result.next === undefined ? undefined : { ...op, token: result.next };
    if (this.#isGone) return this.#end();
    this.#stream.write({ page }, () => {
      if (!this.#isGone && this.#next !== undefined) this.#ask(this.#next, false);
    });
    if (this.#next === undefined) this.#stream.end();
  }

  #fail(failure: Omit<OpFailure, 'kind'>): void {
    const { status, details, detail } = toUnaryFailure(failure, this.#core.appliedZxid());
    const metadata = new Metadata();
    metadata.set(ERROR_DETAIL_KEY, asBuffer(detail));
    this.#stream.emit('error', { code: status, details, metadata });
  }

  #gone(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#end();
  }

  /** Whoever leaves early lets the member forget what it keeps. */
  #end(): void {
    if (this.#next === undefined) return;
    const callId = this.#core.calls.add({ answer: () => undefined });
    this.#post(callId, { ...this.#next, isEnd: true }, false);
    this.#next = undefined;
  }
}
