import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { cookieVersionOf, type SeededTenant } from './seeded-demo.js';
import { postSigned } from './signed-requests.js';

const Answer = z.object({ data: z.object({ consent_token: z.string() }) });
const AGAIN_MS = 500;
/** Requests under way at most: while the service is away, the load waits. */
const MOST_OPEN = 60;

export interface SteadyLoadOptions {
  /** Address of the service at the time. */
  readonly url: () => string;
  readonly seed: SeededTenant;
  /** Consents a second. */
  readonly perSecond: number;
  /** Whether a request is repeated, with the same key, until it is answered with 202. */
  readonly repeats: boolean;
}

/** A backend that records consents at a steady rate until it is stopped. */
export class SteadyLoad {
  /** Tokens of the consents that were answered with 202. */
  readonly accepted: string[] = [];
  /** Every other answer, and requests without one. */
  readonly refused: string[] = [];
  /** Longest time to an answer, in milliseconds. */
  slowestMs = 0;
  readonly #versionId: string;
  readonly #stop = new AbortController();
  readonly #ended: Promise<void>;

  constructor(private readonly options: SteadyLoadOptions) {
    this.#versionId = cookieVersionOf(options.seed);
    this.#ended = this.#run();
  }

  /** Ends the load. Resolves when every request is answered as wanted. */
  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  async #run(): Promise<void> {
    const open = new Set<Promise<void>>();
    let due = performance.now();
    for (let sent = 0; !this.#stop.signal.aborted; sent += 1) {
      due = Math.max(due + 1_000 / this.options.perSecond, performance.now() - 1_000);
      await sleep(Math.max(0, due - performance.now()));
      const one = this.#record(sent).finally(() => open.delete(one));
      open.add(one);
      if (open.size >= MOST_OPEN) await Promise.race(open);
    }
    await Promise.all(open);
  }

  async #record(visitor: number): Promise<void> {
    const consent = {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: this.#versionId,
      idempotency_key: randomUUID(),
      visitor_id: `visitor-${visitor}`,
    };
    while (!(await this.#send(consent)) && this.options.repeats) await sleep(AGAIN_MS);
  }

  /** @returns whether the answer is 202 */
  async #send(consent: unknown): Promise<boolean> {
    const { url, seed } = this.options;
    const sent = performance.now();
    try {
      const response = await postSigned(url(), seed.keys.write, '/tool/v1/consents', consent);
      const body = await response.text();
      if (response.status === 202) this.accepted.push(Answer.parse(JSON.parse(body)).data.consent_token);
      else this.refused.push(`${response.status} ${body}`);
      return response.status === 202;
    } catch (error) {
      this.refused.push(String(error));
      return false;
    } finally {
      this.slowestMs = Math.max(this.slowestMs, performance.now() - sent);
    }
  }
}
