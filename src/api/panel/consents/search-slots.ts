import { serviceUnavailable } from '../../../platform/errors/service-unavailable.js';

export interface SearchSlotsOptions {
  /** Searches that run at the same time. */
  readonly total: number;
  /** Searches of one tenant among them. */
  readonly perTenant: number;
  /** Searches that wait for their turn; further ones are refused. */
  readonly waiting: number;
}

interface Waiting {
  readonly tenantId: string;
  readonly start: () => void;
}

const RETRY_AFTER_SECONDS = 5;

/**
 * Bounds the searches that run at the same time in one process, in total and for each tenant. A
 * search uses a connection of the pool that every request needs: without a bound, slow searches of
 * one tenant would stop the requests of all.
 */
export class SearchSlots {
  readonly #running = new Map<string, number>();
  readonly #waiting: Waiting[] = [];
  #total = 0;

  constructor(private readonly options: SearchSlotsOptions) {}

  /**
   * Runs a search when it is its turn.
   * @throws RequestRefused SERVICE_UNAVAILABLE if too many wait already; what `search` throws
   */
  async run<T>(tenantId: string, search: () => Promise<T>): Promise<T> {
    if (this.#hasSlot(tenantId)) this.#take(tenantId);
    else await this.#turn(tenantId);
    try {
      return await search();
    } finally {
      this.#release(tenantId);
    }
  }

  #hasSlot(tenantId: string): boolean {
    return this.#total < this.options.total && (this.#running.get(tenantId) ?? 0) < this.options.perTenant;
  }

  #take(tenantId: string): void {
    this.#total += 1;
    this.#running.set(tenantId, (this.#running.get(tenantId) ?? 0) + 1);
  }

  #turn(tenantId: string): Promise<void> {
    if (this.#waiting.length >= this.options.waiting) {
      throw serviceUnavailable({
        message: 'Too many searches are running. Retry after Retry-After.',
        retryAfterSeconds: RETRY_AFTER_SECONDS,
      });
    }
    return new Promise((start) => this.#waiting.push({ tenantId, start }));
  }

  /** The slot goes to the first waiting search whose tenant may run another one. */
  #release(tenantId: string): void {
    this.#total -= 1;
    const left = (this.#running.get(tenantId) ?? 1) - 1;
    if (left === 0) this.#running.delete(tenantId);
    else this.#running.set(tenantId, left);
    const next = this.#waiting.findIndex((one) => this.#hasSlot(one.tenantId));
    if (next === -1) return;
    for (const one of this.#waiting.splice(next, 1)) {
      this.#take(one.tenantId);
      one.start();
    }
  }
}
