/** SessionService without its stream: Open, KeepAlive and Close, for clients that make a call now and then. */
import type { sendUnaryData, UntypedServiceImplementation } from '@grpc/grpc-js';
import type { Answer, Zxid } from '@quorate/protocol';
import {
  type SessionProof,
  toSessionProof,
  type WireCloseResponse,
  type WireKeepAliveResponse,
  type WireOpenRequest,
  type WireOpenResponse,
  type WireSessionRequest,
} from '@quorate/protocol/grpc';
import type { CoreAccess } from '../core-access.ts';
import { newToken } from '../session-token.ts';
import { deadlineOf, failWith, isRefused, type UnaryHandler, waitFor } from './unary.ts';

/** The handlers, by method name; `Attach` is in attach.ts. */
export function sessionHandlers(core: CoreAccess): UntypedServiceImplementation {
  return { Open: openHandler(core), KeepAlive: keepAliveHandler(core), Close: closeHandler(core) };
}

function openHandler(core: CoreAccess): UnaryHandler<WireOpenRequest, WireOpenResponse> {
  return (call, callback) => {
    if (isRefused(core, callback)) return;
    const callId = waitFor(core, call, {
      answer: (answer) => failed(callback, answer),
      sessionReady: ({ session, token, timeoutMs }) =>
        callback(null, { session: { id: session, token }, sessionTimeoutMs: timeoutMs, zxid: core.appliedZxid() }),
    });
    core.post({
      kind: 'openSession',
      callId,
      attachment: 0,
      timeoutMs: call.request.sessionTimeoutMs,
      token: newToken(),
      deadlineMs: deadlineOf(call),
    });
  };
}

function keepAliveHandler(core: CoreAccess): UnaryHandler<WireSessionRequest, WireKeepAliveResponse> {
  return (call, callback) => {
    if (isRefused(core, callback)) return;
    const session = proofOf(call.request, callback, core.appliedZxid());
    if (session === undefined) return;
    const callId = waitFor(core, call, {
      answer: (answer) => failed(callback, answer),
      sessionAlive: (sessionTimeoutMs) => callback(null, { sessionTimeoutMs, zxid: core.appliedZxid() }),
    });
    core.post({
      kind: 'keepAlive',
      callId,
      session: session.id,
      token: session.token,
      deadlineMs: deadlineOf(call),
    });
  };
}

function closeHandler(core: CoreAccess): UnaryHandler<WireSessionRequest, WireCloseResponse> {
  return (call, callback) => {
    if (isRefused(core, callback)) return;
    const session = proofOf(call.request, callback, core.appliedZxid());
    if (session === undefined) return;
    const callId = waitFor(core, call, {
      answer(answer) {
        if (answer.result.kind === 'error') failed(callback, answer);
        else callback(null, { zxid: answer.zxid });
      },
    });
    core.post({
      kind: 'call',
      call: {
        callId,
        session: session.id,
        attachment: 0,
        token: session.token,
        op: { kind: 'closeSession' },
        linearizable: false,
        deadlineMs: deadlineOf(call),
      },
    });
  };
}

function proofOf(request: WireSessionRequest, callback: sendUnaryData<never>, zxid: Zxid): SessionProof | undefined {
  const proof = toSessionProof(request.session);
  if (proof !== undefined && proof.id !== 0n) return proof;
  failWith(callback, { code: 'INVALID_ARGUMENT', path: undefined, message: 'No session is named' }, zxid);
  return undefined;
}

function failed(callback: sendUnaryData<never>, { result, zxid }: Answer): void {
  if (result.kind === 'error') failWith(callback, result, zxid);
}
