import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import type { Seed } from '../../src/demo/seed.js';
import { postSigned } from '../../test/support/signed-requests.js';

const Single = z.object({ data: z.object({ consent_token: z.string() }) });
const Batch = z.object({ data: z.object({ results: z.array(z.object({ consent_token: z.string() })) }) });

/** A backend that records, verifies and withdraws, at a steady rate. */
export class MixedLoad {
  /** Tokens of consents that were answered with 202. */
  readonly accepted = new Set<string>();
  /** Requests that had to be repeated. */
  repeated = 0;
  /** Answers that no fault explains, by status and place. */
  readonly unexpected = new Map<string, number>();
  #visitor = 0;
  readonly #open = new Set<Promise<void>>();

  /** @param versionId of the document that visitors consent to */
  constructor(
    private readonly baseUrl: () => string,
    private readonly seed: Seed,
    private readonly versionId: string,
  ) {}

  /** Records consents until the signal. @param perSecond consents; every tenth request is a batch of ten */
  async run(perSecond: number, signal: AbortSignal): Promise<void> {
    const requestsPerSecond = perSecond / 1.9;
    for (let sent = 0, start = performance.now(); !signal.aborted; sent += 1) {
      const due = start + (sent * 1_000) / requestsPerSecond;
      await new Promise((resolve) => setTimeout(resolve, Math.max(0, due - performance.now())));
      const one = this.#record(sent % 10 === 9 ? 10 : 1).finally(() => this.#open.delete(one));
      this.#open.add(one);
      // While the service is away, requests wait: their number is bounded.
      if (this.#open.size > 200) await Promise.race(this.#open);
      if (sent % 20 === 0) void this.#verify();
    }
    await Promise.all(this.#open);
  }

  async #record(count: number): Promise<void> {
    const consents = Array.from({ length: count }, () => {
      this.#visitor += 1;
      return {
        consent_type: 'cookie',
        decision: this.#visitor % 17 === 0 ? 'withdrawn' : 'accepted',
        document_version_id: this.versionId,
        idempotency_key: randomUUID(),
        visitor_id: `visitor-${this.#visitor % 5_000}`,
      };
    });
    const path = count > 1 ? '/tool/v1/consents/batch' : '/tool/v1/consents';
    for (;;) {
      const content = count > 1 ? { consents } : consents[0];
      const answer = await postSigned(this.baseUrl(), this.seed.keys.write, path, content)
        .then(async (response) => ({ status: response.status, body: await response.text() }))
        .catch(() => null);
      if (answer?.status === 202) {
        const body: unknown = JSON.parse(answer.body);
        const tokens = count > 1 ? Batch.parse(body).data.results : [Single.parse(body).data];
        for (const { consent_token: token } of tokens) this.accepted.add(token);
        return;
      }
      if (answer !== null && answer.status !== 503) this.#note(`${answer.status} ${path}`);
      this.repeated += 1;
      await new Promise((resolve) => setTimeout(resolve, 250));
    }
  }

  async #verify(): Promise<void> {
    const [token] = this.accepted;
    if (token === undefined) return;
    const response = await fetch(`${this.baseUrl()}/tool/v1/consents/verify/${token}`, {
      headers: { 'x-api-key': this.seed.keys.read },
    }).catch(() => null);
    await response?.arrayBuffer().catch(() => null);
    // The read model may not have it yet.
    if (response !== null && ![200, 404, 503].includes(response.status)) this.#note(`${response.status} verify`);
  }

  #note(what: string): void {
    this.unexpected.set(what, (this.unexpected.get(what) ?? 0) + 1);
  }
}
