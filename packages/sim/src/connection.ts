/**
 * One connection between two members, as TCP gives it: opened by a dialler, accepted, two pipes, and ends that learn of
 * the close at different times (or never, when the close cannot get through). Whether there is a connection at all,
 * and when the next is tried, is the network's business.
 */
import type { PeerMessage } from '@quorate/core';
import type { Sid } from '@quorate/protocol';
import { Pipe } from './pipe.ts';
import type { Schedule } from './schedule.ts';

/** What a running member does about its connections. One endpoint is one run of one member. */
export interface Endpoint {
  /** A connection with `peer` is usable. Returns the number that the member knows it by. */
  linkUp(peer: Sid): number;
  linkDown(peer: Sid, link: number): void;
  message(peer: Sid, link: number, message: PeerMessage): void;
}

type Item = { readonly kind: 'open' | 'close' } | { readonly kind: 'message'; readonly message: PeerMessage };

/** One side of a connection. `link` is undefined before it is up; `isDown` is final. */
interface End {
  readonly sid: Sid;
  readonly endpoint: Endpoint;
  link: number | undefined;
  isDown: boolean;
}

export interface ConnectionOptions {
  readonly schedule: Schedule;
  /** How long the next item from this side is under way at least, µs. */
  readonly latency: (from: Sid) => number;
  readonly dialler: { readonly sid: Sid; readonly endpoint: Endpoint };
  readonly acceptor: { readonly sid: Sid; readonly endpoint: Endpoint };
  /** The dialler's request has arrived: the moment to give up older connections of the acceptor. */
  readonly accepting: () => void;
  /** An end is down for good, by whatever cause. */
  readonly ended: (sid: Sid) => void;
}

export class Connection {
  readonly dialler: End;
  readonly acceptor: End;
  readonly #toAcceptor: Pipe<Item>;
  readonly #toDialler: Pipe<Item>;
  readonly #options: ConnectionOptions;

  constructor(options: ConnectionOptions) {
    const { schedule, latency } = options;
    this.#options = options;
    this.dialler = { ...options.dialler, link: undefined, isDown: false };
    this.acceptor = { ...options.acceptor, link: undefined, isDown: false };
    const pipe = (to: End) =>
      new Pipe<Item>(schedule, {
        latency: () => latency(this.#peerOf(to)),
        blocked: false,
        arrive: (item) => this.#arrived(to, item),
      });
    this.#toAcceptor = pipe(this.acceptor);
    this.#toDialler = pipe(this.dialler);
    this.#toAcceptor.push({ kind: 'open' });
  }

  end(sid: Sid): End {
    return sid === this.dialler.sid ? this.dialler : this.acceptor;
  }

  /** The pipe that leads away from `sid`. */
  #from(sid: Sid): Pipe<Item> {
    return sid === this.dialler.sid ? this.#toAcceptor : this.#toDialler;
  }

  /** How many messages that `sid` sent are under way. */
  inFlight(sid: Sid): number {
    return this.#from(sid).length;
  }

  send(sid: Sid, message: PeerMessage): void {
    this.#from(sid).push({ kind: 'message', message });
  }

  block(from: Sid): void {
    this.#from(from).block();
  }

  unblock(from: Sid): void {
    this.#from(from).unblock();
  }

  /**
   * `sid` gives the connection up. The other side learns of it behind the first `keep` messages that are under way;
   * the rest is lost. `silent`: it is never told (the machine is off).
   */
  close(sid: Sid, options: { readonly keep: number; readonly silent: boolean }): void {
    const end = this.end(sid);
    if (!end.isDown) {
      const pipe = this.#from(sid);
      pipe.lose(options.keep);
      if (!options.silent) pipe.push({ kind: 'close' });
    }
    this.#down(end);
  }

  /** Something between the two broke it: each side learns of it in its own time. Keeps the first messages of each way. */
  sever(keep: (inFlight: number) => number): void {
    for (const end of [this.dialler, this.acceptor]) {
      const pipe = this.#from(end.sid);
      pipe.lose(keep(pipe.length));
      pipe.push({ kind: 'close' });
    }
  }

  #arrived(to: End, item: Item): void {
    if (to.isDown) return;
    switch (item.kind) {
      case 'open':
        if (to === this.acceptor) {
          this.#options.accepting();
          this.#toDialler.push({ kind: 'open' });
        }
        to.link = to.endpoint.linkUp(this.#peerOf(to));
        break;
      case 'message':
        if (to.link !== undefined) to.endpoint.message(this.#peerOf(to), to.link, item.message);
        break;
      case 'close':
        this.#down(to);
        break;
    }
  }

  #down(end: End): void {
    if (end.isDown) return;
    end.isDown = true;
    if (end.link !== undefined) end.endpoint.linkDown(this.#peerOf(end), end.link);
    this.#options.ended(end.sid);
  }

  #peerOf(end: End): Sid {
    return end === this.dialler ? this.acceptor.sid : this.dialler.sid;
  }
}
