import { pause } from './waiting.js';

/**
 * The pause between two turns of a loop, which a notification ends early. A loop calls `begin`
 * before it looks for work. A notification during the turn then ends the next pause immediately.
 */
export class WakeUp {
  #turn = new AbortController();

  /** Begins a turn and discards earlier notifications. */
  begin(): void {
    this.#turn = new AbortController();
  }

  /** Ends the pause of this turn, now or as soon as it begins. */
  wake(): void {
    this.#turn.abort();
  }

  /** Aborted when the pause of this turn ends early. */
  get woken(): AbortSignal {
    return this.#turn.signal;
  }

  /** Resolves after `ms` milliseconds, after `wake`, or when `signal` is aborted. */
  pause(ms: number, signal: AbortSignal): Promise<void> {
    return pause(ms, signal, this.#turn.signal);
  }
}
