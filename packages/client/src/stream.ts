/**
 * One attachment over gRPC: a channel of its own, one Attach stream in it, frames in and out. Nothing of it is kept for
 * the next attempt, so that names are resolved anew each time. It knows frames, but not what they mean.
 * The only file of the client that touches grpc-js for the session; the error listener of the stream is set here.
 */
import {
  Client,
  type ClientDuplexStream,
  connectivityState,
  credentials,
  Metadata,
  type ServiceError,
} from '@grpc/grpc-js';
import { ATTACH_PATH, type AttachResponse, decodeAttachResponse } from '@quorate/protocol/frames';
import type { Server } from './servers.ts';

/** One end of an attachment. */
export interface Attachment {
  /** Sends a frame; `sent` is called when it has left our buffers, and never after the end of the stream. */
  write(frame: Uint8Array, sent: () => void): void;
  /** Gives everything up at once. No handler is called after that. */
  drop(): void;
}

export interface AttachmentHandlers {
  /** The connection is made; frames can go both ways. */
  onUp(): void;
  onFrame(frame: AttachResponse): void;
  /** The stream has ended. Comes once, unless the attachment was dropped; no frame comes after it. */
  onEnd(reason: string): void;
}

/** Opens an attachment. Never throws; what goes wrong is told to `onEnd`. */
export type Dial = (server: Server, handlers: AttachmentHandlers) => Attachment;

/** Largest frame that the client reads, bytes: a long listing comes in one. Past it the stream ends. */
const RECEIVE_BYTES_MAX = 64 * 1024 * 1024;

const CHANNEL_OPTIONS = {
  'grpc-node.flow_control_window': 16 * 1024 * 1024,
  'grpc-node.max_session_memory': 1000,
  'grpc.max_receive_message_length': RECEIVE_BYTES_MAX,
  'grpc.max_send_message_length': -1,
  'grpc.use_local_subchannel_pool': 1,
  // Members are asked directly: a proxy in the environment is meant for other traffic.
  'grpc.enable_http_proxy': 0,
  'grpc.enable_retries': 0,
  'grpc.service_config_disable_resolution': 1,
} as const;

/** Dials over gRPC without encryption. */
export const dialGrpc: Dial = (server, handlers) => {
  const client = new Client(targetOf(server), credentials.createInsecure(), CHANNEL_OPTIONS);
  const stream = client.makeBidiStreamRequest<Uint8Array, AttachResponse>(
    ATTACH_PATH,
    asBuffer,
    readFrame,
    new Metadata(),
  );
  return new GrpcAttachment(client, stream, handlers);
};

/** The name that grpc-js resolves or, for an address, takes as it is. */
export function targetOf({ host, port }: Server): string {
  return host.includes(':') ? `ipv6:[${host}]:${port}` : `dns:${host}:${port}`;
}

class GrpcAttachment implements Attachment {
  readonly #client: Client;
  readonly #stream: ClientDuplexStream<Uint8Array, AttachResponse>;
  readonly #handlers: AttachmentHandlers;
  #isOver = false;

  constructor(client: Client, stream: ClientDuplexStream<Uint8Array, AttachResponse>, handlers: AttachmentHandlers) {
    this.#client = client;
    this.#stream = stream;
    this.#handlers = handlers;
    stream.on('error', (error: ServiceError) => this.#end(reasonOf(error)));
    stream.on('end', () => this.#end('the member ended the stream'));
    stream.on('data', (frame: AttachResponse) => {
      if (!this.#isOver) this.#handlers.onFrame(frame);
    });
    this.#awaitUp();
  }

  /**
   * Tells when the connection is made. Not with `waitForReady`: that asks a closed channel to connect, and the channel
   * then does, again and again.
   */
  #awaitUp(): void {
    if (this.#isOver) return;
    const channel = this.#client.getChannel();
    const state = channel.getConnectivityState(false);
    if (state === connectivityState.READY) this.#handlers.onUp();
    else channel.watchConnectivityState(state, Number.POSITIVE_INFINITY, () => this.#awaitUp());
  }

  write(frame: Uint8Array, sent: () => void): void {
    if (this.#isOver) return;
    this.#stream.write(frame, (error?: Error | null) => {
      if ((error === undefined || error === null) && !this.#isOver) sent();
    });
  }

  drop(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release();
  }

  #end(reason: string): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#release();
    this.#handlers.onEnd(reason);
  }

  #release(): void {
    this.#stream.cancel();
    this.#client.close();
  }
}

/** grpc-js ends its reasons with a note on resolution, which is mostly empty. */
export function reasonOf(error: ServiceError): string {
  return (error.details || error.message).replace(/\.? Resolution note: *$/, '');
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function readFrame(bytes: Buffer): AttachResponse {
  // As a plain Uint8Array, so that views of it are plain too.
  return decodeAttachResponse(new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength));
}
