import type { CallFault } from './plan.js';
import type { SimulatedClock } from './simulated-clock.js';

/** A process of the simulation. The calls of a dead process are never answered. */
export interface SimulatedProcess {
  readonly name: string;
  isDead: boolean;
  /** Time of the simulated clock up to which the process stands still. */
  hangsUntil: number;
}

/** How a kind of call can fail beside “refused” and “answer lost”. */
export interface CallOptions {
  /** Makes the error that the caller gets, for a call that was performed or was not. */
  readonly failure: (isDone: boolean) => Error;
  /** Whether the call can be performed now; absent: always. */
  readonly isReady?: () => boolean;
  /** Whether the network may deliver the call twice. */
  readonly mayDouble?: boolean;
  /** Whether its answer may arrive late. */
  readonly mayBeLate?: () => boolean;
}

interface Call {
  readonly process: SimulatedProcess;
  readonly what: string;
  readonly order: number;
  readonly options: CallOptions;
  readonly perform: () => Promise<void>;
  readonly performTwice: () => Promise<void>;
  readonly performLate: (ms: number) => Promise<void>;
  readonly fail: (isDone: boolean) => Promise<void>;
}

const LATE_MS = [500, 4_000, 20_000] as const;

/**
 * Decides which call comes next, and how it fails. Between two decisions every process waits: for an
 * answer, or for the simulated clock. One call is performed at a time, so the decisions are the history.
 */
export class Scheduler {
  /** The decisions so far. */
  readonly trace: string[] = [];
  /** Calls that were performed so far. */
  performed = 0;
  readonly #waiting: Call[] = [];
  #arrivals = 0;

  constructor(
    private readonly clock: SimulatedClock,
    /** Returns numbers from 0 to below 1, the same for each run of a history. */
    private readonly random: () => number,
    private readonly faultOf: (place: number) => CallFault | null,
  ) {}

  /** Waits for the turn of a call. */
  call<T>(process: SimulatedProcess, what: string, work: () => Promise<T>, options: CallOptions): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (process.isDead) return;
      this.#arrivals += 1;
      const perform = (): Promise<void> => work().then(resolve, reject);
      this.#waiting.push({
        process,
        what,
        order: this.#arrivals,
        options,
        perform,
        performTwice: async () => {
          await work().catch(() => undefined);
          await perform();
        },
        performLate: async (ms) => {
          const answer = await work().then(
            (value) => () => resolve(value),
            (error: unknown) => () => reject(error),
          );
          setTimeout(() => {
            if (!process.isDead) answer();
          }, ms);
        },
        fail: async (isDone) => {
          // A failure of the call itself is as good as the injected one.
          if (isDone) await work().catch(() => undefined);
          reject(options.failure(isDone));
        },
      });
    });
  }

  /** Drops what a process that died was waiting for. */
  bury(process: SimulatedProcess): void {
    process.isDead = true;
    for (let place = this.#waiting.length - 1; place >= 0; place -= 1)
      if (this.#waiting[place]?.process === process) this.#waiting.splice(place, 1);
  }

  /** Takes one decision: performs a call, or lets time pass if none can be performed. */
  async step(): Promise<void> {
    await this.settle();
    const { now } = this.clock;
    const ready = this.#waiting.filter(
      ({ process, options }) => process.hangsUntil <= now && (options.isReady?.() ?? true),
    );
    const call = ready[Math.floor(this.random() * ready.length)];
    if (call === undefined) {
      if (!this.clock.advance()) throw new Error('nothing waits, not even for the clock');
      return;
    }
    this.#waiting.splice(this.#waiting.indexOf(call), 1);
    const fault = this.faultOf(this.performed);
    this.performed += 1;
    const outcome = this.#outcomeOf(call, fault);
    this.trace.push(
      `${(this.clock.elapsed / 1000).toFixed(3)} ${call.process.name}: ${call.what}${outcome === null ? '' : `: ${outcome}`}`,
    );
    if (outcome === null) await call.perform();
    else if (outcome === 'late') await call.performLate(LATE_MS[this.performed % LATE_MS.length] ?? 0);
    else if (outcome === 'doubled') await call.performTwice();
    else await call.fail(outcome === 'answer lost');
  }

  /** Resolves when no process goes on by itself. */
  async settle(): Promise<void> {
    let turns = 0;
    while (turns < 2) {
      const before = this.#arrivals;
      await new Promise((resolve) => setImmediate(resolve));
      turns = before === this.#arrivals ? turns + 1 : 0;
    }
  }

  #outcomeOf({ options }: Call, fault: CallFault | null): CallFault | null {
    if (fault === 'doubled' && options.mayDouble !== true) return null;
    if (fault === 'late' && options.mayBeLate?.() === false) return null;
    return fault;
  }
}
