/** A process of the simulation. The calls of a dead process are never answered. */
export interface Actor {
  readonly name: string;
  isDead: boolean;
}

/** A call of a part to the database, the event log or an authority. */
interface Call {
  readonly actor: Actor;
  /** Name of the call, without ids: the same in each run of a history. */
  readonly what: string;
  /** Performs the call. */
  readonly run: () => Promise<void>;
  /** Answers the call with a failure. @param isDone whether it is performed first */
  readonly fail: (isDone: boolean) => Promise<void>;
}

/** Action that the scheduler may take besides a waiting call. */
export interface Action {
  readonly what: string;
  readonly run: () => Promise<void>;
}

export interface SchedulerOptions {
  /** Returns numbers from 0 to below 1, the same for each run of a history. */
  readonly random: () => number;
  /** Fires the next timer of the simulated clock. */
  readonly advanceClock: () => Promise<void>;
  /** Number of calls that wait in the database for a lock that another part holds. */
  readonly blockedCalls: () => Promise<number>;
}

/** The clock of the system, also while another one is simulated. */
const { setTimeout: systemTimeout } = globalThis;
/** A call that takes longer may wait for a lock. */
const USUAL_MS = 15;

/** Work of other threads and of the system: its completion continues a part. */
const IDLE_RESOURCES =
  /^(?:TCP(?:Socket|Server)Wrap|Pipe(?:Wrap|ServerWrap)|TTYWrap|Timeout|Immediate|MessagePort|MessagePortWrap|ProcessWrap|SignalWrap|FSEvent|CloseReq|TLSWrap)$/;

/**
 * Decides which call comes next, and how it fails. Between two decisions every part waits: for an answer,
 * or for the simulated clock. One call is performed at a time; others may wait in the database for locks.
 */
export class Scheduler {
  /** The decisions so far. */
  readonly trace: string[] = [];
  /** Probability that a call fails. */
  faultRate = 0;
  readonly #waiting: Call[] = [];
  readonly #performing = new Set<Promise<void>>();
  #arrivals = 0;

  constructor(private readonly options: SchedulerOptions) {}

  /**
   * Waits for the turn of a call.
   * @param failure makes the error that the caller gets, for a call that was performed or was not
   */
  call<T>(
    actor: Actor,
    what: string,
    work: () => Promise<T>,
    failure: (isDone: boolean) => Error | Promise<Error>,
  ): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      if (actor.isDead) return;
      this.#arrivals += 1;
      const perform = async (): Promise<void> => {
        try {
          resolve(await work());
        } catch (error) {
          reject(error);
        }
      };
      const fail = async (isDone: boolean): Promise<void> => {
        // A failure of the call itself is as good as the injected one.
        if (isDone) await work().catch(() => undefined);
        reject(await failure(isDone));
      };
      this.#waiting.push({ actor, what, run: perform, fail });
    });
  }

  /** Drops what a process that died was waiting for. */
  bury(actor: Actor): void {
    actor.isDead = true;
    for (let place = this.#waiting.length - 1; place >= 0; place -= 1)
      if (this.#waiting[place]?.actor === actor) this.#waiting.splice(place, 1);
  }

  /** Takes one decision. @param actions that are possible now */
  async step(actions: readonly Action[]): Promise<void> {
    await this.#calm();
    const { random } = this.options;
    const choice = Math.floor(random() * (this.#waiting.length + actions.length));
    const action = actions[choice - this.#waiting.length];
    if (this.#waiting.length === 0 && action === undefined) {
      await this.options.advanceClock();
      return;
    }
    if (action !== undefined) {
      this.trace.push(action.what);
      this.#perform(action.run());
      return;
    }
    // Two parts that the same answer lets go on arrive in any order.
    this.#waiting.sort((a, b) => compare(a.actor.name, b.actor.name) || compare(a.what, b.what));
    const [call] = this.#waiting.splice(choice, 1);
    if (call === undefined) return;
    const isFaulty = random() < this.faultRate;
    const isDone = isFaulty && random() < 0.5;
    const outcome = isFaulty ? (isDone ? 'answer lost' : 'refused') : 'done';
    this.trace.push(`${call.actor.name}: ${call.what}: ${outcome}`);
    this.#perform(isFaulty ? call.fail(isDone) : call.run());
  }

  #perform(work: Promise<void>): void {
    const performing = work.finally(() => this.#performing.delete(performing));
    this.#performing.add(performing);
  }

  /** Resolves when every part waits. */
  async #calm(): Promise<void> {
    for (;;) {
      await this.#turns();
      const performed = this.#performing.size;
      if (performed === 0) return;
      await Promise.race([...this.#performing, new Promise((resolve) => systemTimeout(resolve, USUAL_MS))]);
      const isUnchanged = this.#performing.size === performed;
      if (isUnchanged && (await this.options.blockedCalls()) >= performed && this.#performing.size === performed)
        return;
    }
  }

  /** Resolves when no part goes on by itself. */
  async #turns(): Promise<void> {
    let turns = 0;
    while (turns < 3) {
      const before = this.#arrivals;
      await new Promise((resolve) => setImmediate(resolve));
      const isWorking = process.getActiveResourcesInfo().some((type) => !IDLE_RESOURCES.test(type));
      turns = isWorking || before !== this.#arrivals ? 0 : turns + 1;
    }
  }
}

function compare(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}

/** Mulberry32: numbers from 0 to below 1 from a seed. */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}
