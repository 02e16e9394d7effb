/**
 * Abort signals that many calls share: one listener a signal, however many calls, and none when no call is left. A
 * listener a call would make Node warn of a leak from the eleventh on.
 */
export class Signals {
  readonly #watched = new Map<AbortSignal, { readonly listener: () => void; readonly actions: Set<() => void> }>();

  /** Calls `action` once when `signal` aborts, at once when it has. Returns what takes it back. */
  watch(signal: AbortSignal, action: () => void): () => void {
    if (signal.aborted) {
      action();
      return () => {};
    }
    const { actions } = this.#watched.get(signal) ?? this.#listen(signal);
    actions.add(action);
    return () => {
      actions.delete(action);
      if (actions.size === 0) this.#forget(signal);
    };
  }

  #listen(signal: AbortSignal): { actions: Set<() => void> } {
    const actions = new Set<() => void>();
    const listener = (): void => {
      this.#forget(signal);
      for (const action of actions) action();
    };
    const watched = { listener, actions };
    this.#watched.set(signal, watched);
    signal.addEventListener('abort', listener);
    return watched;
  }

  #forget(signal: AbortSignal): void {
    const watched = this.#watched.get(signal);
    if (watched === undefined) return;
    signal.removeEventListener('abort', watched.listener);
    this.#watched.delete(signal);
  }
}
