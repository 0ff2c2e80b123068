import { describe } from '../platform/background/part.js';
import { DeadlinePassed, withDeadline } from '../platform/background/waiting.js';
import {
  READINESS_CODES,
  type Readiness,
  type ReadinessCode,
  type ReadinessReason,
  type ReadinessSource,
} from '../platform/health.js';
import type { Installation } from './installation.js';

export interface ReadinessOptions {
  readonly sources: readonly ReadinessSource[];
  /** Called when a source begins to fail, with its error, for the program's log. */
  readonly onUnknown: (source: string, error: unknown) => void;
  /** Called when the reasons change. */
  readonly onChange: (reasons: readonly ReadinessReason[]) => void;
  /** Age up to which an answer is given again, in milliseconds. */
  readonly freshMs?: number;
  /** Longest wait for an answer, in milliseconds: shorter than a load balancer waits. */
  readonly waitMs?: number;
  /** Age up to which the previous answer stands for one that does not come, in milliseconds. */
  readonly staleMs?: number;
}

const FRESH_MS = 1_000;
const WAIT_MS = 1_500;
const STALE_MS = 8_000;

/** Creates the readiness of a process, which its log and its metrics show, too. Call it once. */
export function readinessOf({ logger, metrics }: Installation, sources: readonly ReadinessSource[]): Readiness {
  const readiness = createReadiness({
    sources,
    onUnknown: (source, error) => logger.error({ source, reason: describe(error) }, 'the readiness check failed'),
    onChange: (reasons) => logger.warn({ reasons }, 'the readiness of the process changed'),
  });
  metrics.showReadiness(readiness);
  return readiness;
}

/** Creates the readiness of a process from all that can keep it from its work. */
export function createReadiness(options: ReadinessOptions): Readiness {
  const { freshMs = FRESH_MS, waitMs = WAIT_MS, staleMs = STALE_MS, onUnknown, onChange } = options;
  const watched = options.sources.map((source) => new WatchedSource(source, { freshMs, waitMs, staleMs, onUnknown }));
  let shown = '[]';
  return {
    reasons: async () => {
      const found = (await Promise.all(watched.map((source) => source.reasons()))).flat();
      const codes = READINESS_CODES.filter((code) => found.some((reason) => reason.code === code));
      const reasons = codes.map((code) => merged(code, found));
      const now = JSON.stringify(reasons);
      if (now !== shown) onChange(reasons);
      shown = now;
      return reasons;
    },
  };
}

function merged(code: ReadinessCode, found: readonly ReadinessReason[]): ReadinessReason {
  const names = new Set(found.flatMap((reason) => (reason.code === code ? (reason.names ?? []) : [])));
  return names.size === 0 ? { code } : { code, names: [...names].sort() };
}

type WatchOptions = Required<Pick<ReadinessOptions, 'freshMs' | 'waitMs' | 'staleMs' | 'onUnknown'>>;

/** A source, with its last answer. */
class WatchedSource {
  #underWay: Promise<void> | null = null;
  #answer: readonly ReadinessReason[] = [];
  /** Monotonic milliseconds of the last answer, of a failure too. */
  #answeredAt = Number.NEGATIVE_INFINITY;
  #isFailing = false;

  constructor(
    private readonly source: ReadinessSource,
    private readonly options: WatchOptions,
  ) {}

  async reasons(): Promise<readonly ReadinessReason[]> {
    const { freshMs, waitMs, staleMs } = this.options;
    if (this.#age() >= freshMs) {
      this.#underWay ??= this.#ask().finally(() => {
        this.#underWay = null;
      });
      // Without an earlier answer there is nothing else to say, until it is known that none comes.
      const isFirst = !this.#isFailing && this.#age() >= staleMs;
      await withDeadline(this.#underWay, isFirst ? staleMs : waitMs).catch(() => undefined);
    }
    if (this.#age() < staleMs) return this.#answer;
    return this.#fails(new DeadlinePassed(staleMs));
  }

  #age(): number {
    return performance.now() - this.#answeredAt;
  }

  async #ask(): Promise<void> {
    try {
      this.#answer = await this.source.check();
      this.#isFailing = false;
    } catch (error) {
      this.#answer = this.#fails(error);
    }
    this.#answeredAt = performance.now();
  }

  #fails(error: unknown): readonly ReadinessReason[] {
    if (!this.#isFailing) this.options.onUnknown(this.source.name, error);
    this.#isFailing = true;
    return [{ code: this.source.ifUnknown(error) }];
  }
}
