/**
 * The side of links that is dialled: reads the hello of each incoming stream, refuses those that do not belong here, and
 * hands the others over. Refusals carry FAILED_PRECONDITION and the reason to the dialler, and are logged rarely.
 */
import { type ServerDuplexStream, status } from '@grpc/grpc-js';
import type { Sid } from '@quorate/protocol';
import type { Log } from '../logging.ts';
import { encodeHello } from './encode.ts';
import { helloFault, helloTo, type OwnIdentity, readHello } from './hello.ts';
import type { Link, LinkStream } from './link.ts';

/** A stream that has not said hello by then is ended, ms. */
const HELLO_MS = 3_000;

/** Makes a link of an accepted stream and takes it into use. */
export type Welcome = (sid: Sid, stream: LinkStream) => Link;

/** A stream that was dialled from outside. */
export type Incoming = ServerDuplexStream<Buffer, Buffer>;

export class Acceptor {
  readonly #own: OwnIdentity;
  readonly #log: Log;
  readonly #welcome: Welcome;
  readonly #cut: (peer: string) => void;
  #isReady = false;

  /** `cut` ends the connection of a call at once: a link has a connection of its own. */
  constructor(own: OwnIdentity, log: Log, welcome: Welcome, cut: (peer: string) => void) {
    this.#own = own;
    this.#log = log;
    this.#welcome = welcome;
    this.#cut = cut;
  }

  /** From here on links are accepted; before, diallers are told to come again. */
  ready(): void {
    this.#isReady = true;
  }

  /** From here on no links are accepted. */
  stop(): void {
    this.#isReady = false;
  }

  /** The handler of PeerService.Link. */
  handle(call: Incoming): void {
    // A stream without this listener would end the process when it fails.
    call.on('error', () => undefined);
    if (!this.#isReady) {
      end(call, status.UNAVAILABLE, 'the member is starting or stopping');
      return;
    }
    let link: Link | undefined;
    const timer = setTimeout(() => end(call, status.DEADLINE_EXCEEDED, 'no hello came'), HELLO_MS).unref();
    const gone = (reason: string): void => {
      clearTimeout(timer);
      link?.close(reason);
    };
    call.on('data', (frame: Buffer) => {
      if (link !== undefined) link.receive(frame);
      else {
        clearTimeout(timer);
        link = this.#greet(call, frame);
      }
    });
    call.once('end', () => {
      gone('the other side ended it');
      call.end();
    });
    call.once('cancelled', () => gone('the connection is lost'));
    call.once('close', () => gone('the connection is lost'));
  }

  #greet(call: Incoming, frame: Buffer): Link | undefined {
    const hello = readHello(frame);
    const fault = typeof hello === 'string' ? hello : helloFault(this.#own, hello, undefined);
    if (fault !== undefined || typeof hello === 'string') {
      const from = typeof hello === 'string' ? call.getPeer() : hello.sid;
      this.#log.warnRarely('linkRefused', from, { peer: from, address: call.getPeer(), reason: fault });
      end(call, status.FAILED_PRECONDITION, fault ?? '');
      return undefined;
    }
    if (!this.#isReady) {
      end(call, status.UNAVAILABLE, 'the member is stopping');
      return undefined;
    }
    const answer = encodeHello(helloTo(this.#own, hello.sid));
    call.write(Buffer.from(answer.buffer, answer.byteOffset, answer.length));
    return this.#welcome(hello.sid, {
      write: (out, written) => {
        call.write(out, written);
      },
      pause: () => call.pause(),
      resume: () => call.resume(),
      destroy: () => this.#cut(call.getPeer()),
    });
  }
}

/** Ends a stream that is no link with a status. */
function end(call: Incoming, code: status, details: string): void {
  if (call.destroyed || call.writableEnded) return;
  call.emit('error', { code, details });
}
