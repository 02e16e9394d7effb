/**
 * The links between members: the larger sid dials, again and again while its end is down; one connection a pair at most
 * on each side. Faults: a connection is severed (what is under way is lost), a direction is blocked (silence; data waits,
 * as with TCP), a member's machine goes off without a word. It carries messages and does not look at them.
 */
import type { PeerMessage } from '@quorate/core';
import type { Sid } from '@quorate/protocol';
import { Connection, type Endpoint } from './connection.ts';
import type { NetworkKnobs } from './knobs.ts';
import type { Random } from './random.ts';
import type { Schedule } from './schedule.ts';

/** Two members. `connections` holds every connection with an end that is not down; the newest is last. */
interface Pair {
  readonly dialler: Sid;
  readonly acceptor: Sid;
  connections: Connection[];
  /** Reasons for which each direction is blocked: a direction works when it has none. */
  readonly blocked: Map<Sid, number>;
  /** By how much longer what each of them sends is under way, µs. */
  readonly lag: Map<Sid, number>;
  isDialPlanned: boolean;
}

export class Network {
  readonly #schedule: Schedule;
  readonly #random: Random;
  readonly #knobs: NetworkKnobs;
  readonly #pairs: Pair[] = [];
  readonly #endpoints = new Map<Sid, Endpoint>();
  readonly #frozen = new Set<Sid>();

  constructor(
    schedule: Schedule,
    random: Random,
    options: { readonly sids: readonly Sid[]; readonly knobs: NetworkKnobs },
  ) {
    this.#schedule = schedule;
    this.#random = random;
    this.#knobs = options.knobs;
    for (const acceptor of options.sids) {
      for (const dialler of options.sids.filter((sid) => sid > acceptor)) {
        this.#pairs.push({
          dialler,
          acceptor,
          connections: [],
          blocked: new Map(),
          lag: new Map(),
          isDialPlanned: false,
        });
      }
    }
  }

  /** A run of a member begins: it dials and can be dialled. What is left of its former run's connections is refused. */
  join(sid: Sid, endpoint: Endpoint): void {
    this.#endpoints.set(sid, endpoint);
    for (const pair of this.#pairsOf(sid)) {
      for (const connection of [...pair.connections]) connection.sever(() => 0);
      this.#planDial(pair);
    }
  }

  /** A run of a member has ended. `silent`: its peers are not told. */
  leave(sid: Sid, silent: boolean): void {
    this.#endpoints.delete(sid);
    this.#frozen.delete(sid);
    for (const pair of this.#pairsOf(sid)) {
      for (const connection of [...pair.connections]) this.#close(connection, sid, silent);
    }
  }

  /** A frozen member keeps its connections but makes none. */
  freeze(sid: Sid, isFrozen: boolean): void {
    if (isFrozen) this.#frozen.add(sid);
    else this.#frozen.delete(sid);
  }

  /** Sends on that link; a link that is not the member's current one loses the message. */
  send(from: Sid, link: number, to: Sid, message: PeerMessage): void {
    this.#current(from, to, link)?.send(from, message);
  }

  /** Whether `link` is the member's current connection with `peer`. */
  isCurrent(sid: Sid, peer: Sid, link: number): boolean {
    return this.#current(sid, peer, link) !== undefined;
  }

  /** A member closes one of its links; nothing happens when it is not current. */
  close(sid: Sid, peer: Sid, link: number): void {
    const connection = this.#current(sid, peer, link);
    if (connection !== undefined) this.#close(connection, sid, false);
  }

  /** Breaks what connects two members; they may connect again at once. */
  sever(a: Sid, b: Sid): void {
    for (const connection of [...this.#pairOf(a, b).connections]) {
      connection.sever((inFlight) => this.#random.between(0, inFlight));
    }
  }

  /** Nothing gets from `from` to `to` until as many `unblock` calls follow; no new connection either. */
  block(from: Sid, to: Sid): void {
    const pair = this.#pairOf(from, to);
    pair.blocked.set(from, (pair.blocked.get(from) ?? 0) + 1);
    for (const connection of pair.connections) connection.block(from);
  }

  unblock(from: Sid, to: Sid): void {
    const pair = this.#pairOf(from, to);
    const reasons = (pair.blocked.get(from) ?? 1) - 1;
    pair.blocked.set(from, reasons);
    if (reasons > 0) return;
    for (const connection of pair.connections) connection.unblock(from);
  }

  /** What `from` sends to `to` from now on is under way for so much longer than usual, µs. */
  lag(from: Sid, to: Sid, us: number): void {
    this.#pairOf(from, to).lag.set(from, us);
  }

  #latency(pair: Pair, from: Sid): number {
    return this.#random.skewed(this.#knobs.latencyMinUs, this.#knobs.latencyMaxUs) + (pair.lag.get(from) ?? 0);
  }

  #close(connection: Connection, sid: Sid, silent: boolean): void {
    connection.close(sid, { keep: this.#random.between(0, connection.inFlight(sid)), silent });
  }

  #planDial(pair: Pair): void {
    if (pair.isDialPlanned) return;
    pair.isDialPlanned = true;
    this.#schedule.after(this.#random.between(1, this.#knobs.redialMaxUs), () => {
      pair.isDialPlanned = false;
      this.#dial(pair);
    });
  }

  #dial(pair: Pair): void {
    const dialler = this.#endpoints.get(pair.dialler);
    const acceptor = this.#endpoints.get(pair.acceptor);
    if (dialler === undefined) return; // `join` plans anew
    if (pair.connections.some((connection) => !connection.end(pair.dialler).isDown)) return;
    const isBlocked = [...pair.blocked.values()].some((reasons) => reasons > 0);
    const isFrozen = this.#frozen.has(pair.dialler) || this.#frozen.has(pair.acceptor);
    if (acceptor === undefined || isBlocked || isFrozen) {
      this.#planDial(pair);
      return;
    }
    const connection: Connection = new Connection({
      schedule: this.#schedule,
      latency: (from) => this.#latency(pair, from),
      dialler: { sid: pair.dialler, endpoint: dialler },
      acceptor: { sid: pair.acceptor, endpoint: acceptor },
      accepting: () => this.#replace(pair, connection),
      ended: (sid) => this.#ended(pair, connection, sid),
    });
    pair.connections.push(connection);
    this.#schedule.after(this.#knobs.dialTimeoutUs, () => {
      if (connection.dialler.link === undefined) this.#close(connection, pair.dialler, false);
    });
  }

  /** The acceptor hears from a new connection: its end of every older one is dead. */
  #replace(pair: Pair, by: Connection): void {
    for (const older of [...pair.connections]) {
      if (older === by) break;
      older.close(pair.acceptor, { keep: 0, silent: true });
    }
  }

  #ended(pair: Pair, connection: Connection, sid: Sid): void {
    if (connection.dialler.isDown && connection.acceptor.isDown) {
      pair.connections = pair.connections.filter((other) => other !== connection);
    }
    if (sid === pair.dialler) this.#planDial(pair);
  }

  #current(sid: Sid, peer: Sid, link: number): Connection | undefined {
    return this.#pairOf(sid, peer).connections.find((connection) => {
      const end = connection.end(sid);
      return !end.isDown && end.link === link;
    });
  }

  #pairsOf(sid: Sid): Pair[] {
    return this.#pairs.filter((pair) => pair.dialler === sid || pair.acceptor === sid);
  }

  #pairOf(a: Sid, b: Sid): Pair {
    const pair = this.#pairs.find((each) => each.dialler === Math.max(a, b) && each.acceptor === Math.min(a, b));
    if (pair === undefined) throw new RangeError(`There is no link between ${a} and ${b}`);
    return pair;
  }
}
