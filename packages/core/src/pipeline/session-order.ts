/**
 * The line of each session: calls are answered in the order in which they came (P1), each exactly once (P2). A read with
 * nothing ahead of it is answered at once; one behind a write is answered right after it. Calls without a session stand in
 * no line. It knows what waits, not for what: whoever can answer a call says so with `ready`.
 *
 * A call that has to wait before it can be answered, yet puts nothing into the history (a sync, a linearizable read, a call
 * whose session is not known here yet, a listing of children that are not in order), is a *barrier*: writes behind it begin
 * only when it has been answered, so that no read sees a later write of its own session (P3).
 */
import { type Answer, assert, NO_SESSION, type SessionId } from '@quorate/protocol';

/** A call's place. Opaque to everyone else. */
export interface Place {
  readonly callId: number;
  readonly session: SessionId;
  /** Attachment it came by, 0 for none. */
  readonly attachment: number;
  readonly isBarrier: boolean;
  /** Begins the call's work; undefined once begun or when there is none. */
  begin: (() => void) | undefined;
  /** Makes the answer when its turn has come; undefined while that is not possible. */
  produce: (() => Answer) | undefined;
  isAnswered: boolean;
}

interface Line {
  /** Calls from `head` on are not answered. */
  places: Place[];
  head: number;
  /** Barriers among them. */
  barriers: number;
}

/** What a call is when it joins. */
export interface Joining {
  readonly callId: number;
  readonly session: SessionId;
  readonly attachment: number;
  readonly isBarrier: boolean;
}

export class SessionOrder {
  readonly #answer: (place: Place, answer: Answer) => void;
  readonly #lines = new Map<SessionId, Line>();
  #held = 0;

  constructor(answer: (place: Place, answer: Answer) => void) {
    this.#answer = answer;
  }

  /** Calls that joined and are not answered. */
  get held(): number {
    return this.#held;
  }

  /** Lines in which somebody waits. */
  get lineCount(): number {
    return this.#lines.size;
  }

  /** Joins the end of the session's line. Follow with `begin` or `ready`. */
  join(call: Joining): Place {
    const place: Place = { ...call, begin: undefined, produce: undefined, isAnswered: false };
    this.#held++;
    if (call.session === NO_SESSION) return place;
    const line = this.#lines.get(call.session) ?? this.#newLine(call.session);
    line.places.push(place);
    if (call.isBarrier) line.barriers++;
    return place;
  }

  /**
   * Runs `begin` now, or, when a barrier stands ahead, as soon as none does. Called right after `join`. The begins of one
   * line run in its order.
   */
  begin(place: Place, begin: () => void): void {
    const line = this.#lines.get(place.session);
    if (line === undefined || line.barriers === (place.isBarrier ? 1 : 0)) {
      begin();
      return;
    }
    assert(line.places.at(-1) === place, () => `P3: call ${place.callId} begins after a later one has joined`);
    place.begin = begin;
  }

  /** The call can be answered: `produce` runs when everything ahead of it has been answered, which may be now. */
  ready(place: Place, produce: () => Answer): void {
    if (place.isAnswered || place.produce !== undefined) return;
    place.begin = undefined;
    place.produce = produce;
    const line = this.#lines.get(place.session);
    if (line === undefined) this.#emit(place, produce);
    else this.#drain(place.session, line);
  }

  /** True when nobody waits in the session's line. */
  isIdle(session: SessionId): boolean {
    return !this.#lines.has(session);
  }

  /** True when nothing of its line stands ahead of the place. */
  isFirst(place: Place): boolean {
    const line = this.#lines.get(place.session);
    return line === undefined || line.places[line.head] === place;
  }

  #newLine(session: SessionId): Line {
    const line: Line = { places: [], head: 0, barriers: 0 };
    this.#lines.set(session, line);
    return line;
  }

  #drain(session: SessionId, line: Line): void {
    for (let place = line.places[line.head]; place?.produce !== undefined; place = line.places[line.head]) {
      line.head++;
      if (place.isBarrier) line.barriers--;
      this.#emit(place, place.produce);
      if (place.isBarrier) this.#beginBehind(line);
    }
    if (line.head === line.places.length) this.#lines.delete(session);
    else if (line.head > 64 && line.head * 2 > line.places.length) {
      line.places = line.places.slice(line.head);
      line.head = 0;
    }
  }

  /** A barrier has been answered: those behind it begin, up to the next barrier and with it. */
  #beginBehind(line: Line): void {
    const next = line.places.findIndex((place, at) => at >= line.head && place.isBarrier);
    const unblocked = line.places.slice(line.head, next === -1 ? undefined : next + 1);
    for (const place of unblocked) {
      const { begin } = place;
      place.begin = undefined;
      begin?.();
    }
  }

  #emit(place: Place, produce: () => Answer): void {
    assert(!place.isAnswered, () => `P2: call ${place.callId} is answered twice`);
    place.isAnswered = true;
    this.#held--;
    this.#answer(place, produce());
  }
}
