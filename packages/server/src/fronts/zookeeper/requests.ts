/**
 * The requests of one connection: what the core answers goes to it, what is about the connection itself is answered here. All get
 * their replies in order. Source: reference §3.4.
 */
import {
  type ByteReader,
  DecodeError,
  IDENTITIES_MAX,
  type Identity,
  isReadKind,
  isWatchKind,
  NO_SESSION,
  type Op,
  type SessionId,
} from '@quorate/protocol';
import {
  type JuteRequest,
  type ReplyForm,
  type RequestHeader,
  readRequestBody,
  WIRE_ERROR,
  wireErrorOf,
  writeFailedMulti,
  writeIdentities,
  writeMultiReads,
  writeMultiResults,
  writeResult,
  XID,
} from '@quorate/protocol/jute';
import { type CoreAccess, deadlineAfter } from '../core-access.ts';
import { CredentialError } from '../identities.ts';
import { DigestMd5 } from './digest-md5.ts';
import { NO_BODY, type ReplyBody, type ReplyLine } from './reply-line.ts';

/** A zxid where there is none, in the reply to a request that is not known. */
const NO_ZXID = -1n;

export class Requests {
  readonly #core: CoreAccess;
  readonly #attachment: number;
  readonly #replies: ReplyLine;
  #session: SessionId = NO_SESSION;
  #timeoutMs = 0;
  #identities: readonly Identity[];
  #isOver = false;
  #isReadOnly = false;
  #sasl: DigestMd5 | undefined;

  constructor(core: CoreAccess, attachment: number, replies: ReplyLine, peer: string) {
    this.#core = core;
    this.#attachment = attachment;
    this.#replies = replies;
    this.#identities = core.identitiesOf(peer, []);
  }

  /** No session stands behind the connection: it is served reads, however old they may be. */
  openedReadOnly(timeoutMs: number): void {
    this.#isReadOnly = true;
    this.#timeoutMs = timeoutMs;
  }

  get session(): SessionId {
    return this.#session;
  }

  /** Of the session, ms. */
  get timeoutMs(): number {
    return this.#timeoutMs;
  }

  /** No further request is taken: when the last reply has left, the connection is closed. */
  get isOver(): boolean {
    return this.#isOver;
  }

  opened(session: SessionId, timeoutMs: number): void {
    this.#session = session;
    this.#timeoutMs = timeoutMs;
  }

  take({ xid, type }: RequestHeader, reader: ByteReader): void {
    let request: JuteRequest;
    try {
      request = readRequestBody(type, reader);
    } catch (error) {
      if (!(error instanceof DecodeError)) throw error;
      return this.#own(xid, WIRE_ERROR.marshalling);
    }
    this.#one(xid, request);
  }

  #one(xid: number, request: JuteRequest): void {
    switch (request.kind) {
      case 'op':
        return this.#op(xid, request.op, request.forms);
      case 'ping':
        return this.#own(XID.ping, WIRE_ERROR.ok);
      case 'whoAmI': {
        const identities = this.#identities;
        return this.#own(xid, WIRE_ERROR.ok, { write: (writer) => writeIdentities(writer, identities) });
      }
      case 'auth':
        return this.#auth(xid, request.scheme, request.proof);
      case 'sasl':
        return this.#takeSasl(xid, request.token);
      case 'refused':
        return this.#own(xid, request.error);
      case 'reconfig':
        return this.#own(xid, WIRE_ERROR.reconfigDisabled);
      default:
        this.#isOver = true;
        return this.#replies.addOwn(xid, { zxid: NO_ZXID, error: WIRE_ERROR.unimplemented, body: NO_BODY });
    }
  }

  #op(xid: number, op: Op, forms: readonly ReplyForm[]): void {
    if (op.kind === 'closeSession') this.#isOver = true;
    if (this.#isReadOnly && !isReadKind(op.kind) && !isWatchKind(op.kind)) {
      return this.#own(xid, op.kind === 'closeSession' ? WIRE_ERROR.ok : WIRE_ERROR.notReadOnly);
    }
    if (op.kind === 'multi') return this.#call(xid, op, bodyOfMulti(op.parts.length, forms));
    if (op.kind === 'setWatches') return this.#call(xid, op, SET_WATCHES);
    return this.#call(xid, op, forms[0] === 'withStat' ? WITH_STAT : PLAIN);
  }

  #call(xid: number, op: Op, body: ReplyBody): void {
    const callId = this.#core.calls.add(this.#replies.add(xid, body));
    this.#core.post({
      kind: 'call',
      call: {
        callId,
        session: this.#session,
        attachment: this.#attachment,
        token: undefined,
        op,
        identities: this.#identities,
        linearizable: false,
        isStaleAllowed: this.#isReadOnly,
        // This wire has no deadlines: past the session's timeout the client has given the connection up.
        deadlineMs: deadlineAfter(this.#timeoutMs),
      },
    });
  }

  #own(xid: number, error: number, body: ReplyBody = NO_BODY): void {
    this.#replies.addOwn(xid, { zxid: undefined, error, body });
  }

  /** What was shown counts from the next request on. One that proves nothing ends the connection: nobody goes on as another (C171). */
  #auth(xid: number, scheme: string, proof: Uint8Array): void {
    const shown = this.#proved(scheme, proof)?.filter((one) => !this.#has(one));
    const isRefused = shown === undefined || this.#identities.length + shown.length > IDENTITIES_MAX;
    if (isRefused) this.#isOver = true;
    else this.#identified([...this.#identities, ...shown]);
    this.#replies.addOwn(xid, { zxid: 0n, error: isRefused ? WIRE_ERROR.authFailed : WIRE_ERROR.ok, body: NO_BODY });
  }

  /** Without users nobody can be proved, and clients that try are told so by an answer without a token. */
  #takeSasl(xid: number, token: Uint8Array): void {
    const { saslUsers } = this.#core;
    if (saslUsers.size === 0) return this.#saslReply(xid, WIRE_ERROR.ok, undefined);
    this.#sasl ??= new DigestMd5(saslUsers);
    const step = this.#sasl.take(token);
    if (step.kind === 'failed' || this.#identities.length === IDENTITIES_MAX) {
      this.#isOver = true;
      return this.#saslReply(xid, WIRE_ERROR.authFailed, undefined);
    }
    const proved = step.kind === 'proved' ? { scheme: 'sasl', id: step.user } : undefined;
    if (proved !== undefined && !this.#has(proved)) this.#identified([...this.#identities, proved]);
    this.#saslReply(xid, WIRE_ERROR.ok, step.token);
  }

  #saslReply(xid: number, error: number, token: Uint8Array | undefined): void {
    this.#replies.addOwn(xid, { zxid: 0n, error, body: { write: (writer) => writer.bytes(token) } });
  }

  /** What it watches goes by it from now on too. */
  #identified(identities: readonly Identity[]): void {
    this.#identities = identities;
    this.#core.post({ kind: 'identified', attachment: this.#attachment, identities });
  }

  /** Undefined when it proves nothing. The address is known without being shown. */
  #proved(scheme: string, proof: Uint8Array): readonly Identity[] | undefined {
    if (scheme === 'ip') return [];
    if (scheme !== 'digest') return undefined;
    try {
      return this.#core.digestIdentities(new TextDecoder().decode(proof));
    } catch (error) {
      if (!(error instanceof CredentialError)) throw error;
      return undefined;
    }
  }

  #has({ scheme, id }: Identity): boolean {
    return this.#identities.some((one) => one.scheme === scheme && one.id === id);
  }
}

/** Clients take what they watched for set again whatever the reply says: one that has to be refused comes as a lost connection. */
const SET_WATCHES: ReplyBody = { ...NO_BODY, endsOnError: true };

function writesAs(form: ReplyForm): ReplyBody {
  return {
    write: (writer, result) => {
      if (result.kind === 'multiRead') writeMultiReads(writer, result.results);
      else if (result.kind !== 'error' && result.kind !== 'multi') writeResult(writer, result, form);
    },
  };
}

const PLAIN = writesAs('plain');
const WITH_STAT = writesAs('withStat');

/** A failed part is told in the body, and the header has no error; what fails as a whole has it in the header. */
function bodyOfMulti(parts: number, forms: readonly ReplyForm[]): ReplyBody {
  return {
    takesErrors: ({ part }) => part !== undefined,
    write: (writer, result) => {
      if (result.kind === 'multi') writeMultiResults(writer, result.results, forms);
      else if (result.kind === 'error') writeFailedMulti(writer, parts, result.part ?? 0, wireErrorOf(result.code));
    },
  };
}
