import { pause } from './waiting.js';

/**
 * The pause between two turns of a loop, which a notification ends early. `begin` each turn before
 * looking for work: a notification that comes while the turn runs then ends the next pause at once.
 */
export class WakeUp {
  #turn = new AbortController();

  /** Begins a turn: forgets the notifications that came before it. */
  begin(): void {
    this.#turn = new AbortController();
  }

  /** Ends the pause of this turn, now or as soon as it begins. */
  wake(): void {
    this.#turn.abort();
  }

  /** Resolves after `ms` milliseconds, after `wake`, or when `signal` is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return pause(ms, signal, this.#turn.signal);
  }
}
