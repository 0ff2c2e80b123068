import type { Acceptance } from '../../../../sdk/core/answers.js';
import type { Answer } from '../../../../sdk/core/ports.js';
import { type InForce, sentOf } from '../../../../sdk/core/queue.js';

/** The outcome of a request. `lost`: the service records the consent, and the answer does not arrive. */
export type Fate = 'answered' | 'lost' | 'away' | 'busy' | 'broken' | 'refused';

export interface ModelRecord extends InForce {
  readonly key: string;
  readonly visitor: string;
  readonly type: string;
  /** Words of the notice that it states. */
  readonly notice: string | undefined;
}

/** What the model reads of a body beside what the SDK reads of it. */
interface Stated {
  readonly idempotency_key: string;
  readonly presentation?: { readonly notice?: { readonly text: string } };
}

const DAY_MS = 86_400_000;

/** The service as its specification says: keys are remembered for 24 hours. */
export class ModelService {
  readonly records: ModelRecord[] = [];
  readonly refused = new Set<string>();
  /** Keys of choices that a page gave up, because they kept failing and a later one was recorded. */
  readonly passed = new Set<string>();
  /** Keys whose last answer arrived. */
  readonly answered = new Set<string>();
  readonly #keys = new Map<string, { readonly acceptance: Acceptance; readonly at: number }>();

  /** @param now milliseconds of the service's clock */
  constructor(private readonly now: () => number) {}

  post(body: string, fate: Fate): Answer & { readonly acceptance?: Acceptance } {
    const none = { body: null, retryAfterMs: null };
    if (fate === 'away') return { ...none, status: 0 };
    if (fate === 'busy') return { ...none, status: 503 };
    if (fate === 'broken') return { ...none, status: 500 };
    const sent = sentOf({ body });
    const { idempotency_key: key, presentation }: Stated = JSON.parse(body);
    if (sent === undefined) throw new Error(`not a consent: ${body}`);
    const known = this.#keys.get(key);
    if (known !== undefined && this.now() - known.at < DAY_MS) {
      if (fate === 'lost') return { ...none, status: 0 };
      return { ...none, status: 202, acceptance: { ...known.acceptance, duplicate: true } };
    }
    // It refuses again what it refused.
    if (fate === 'refused' || this.refused.has(key)) {
      this.refused.add(key);
      return { ...none, status: 422 };
    }
    const created_at = new Date(this.now()).toISOString();
    const token = `ct_${this.records.length.toString().padStart(32, '0')}`;
    const acceptance: Acceptance = {
      consent_token: token,
      proof_hash: 'f'.repeat(64),
      created_at,
      duplicate: false,
      promise: null,
    };
    this.#keys.set(key, { acceptance, at: this.now() });
    this.records.push({
      ...acceptance,
      key,
      visitor: sent.visitor_id ?? '',
      type: sent.consent_type,
      decision: sent.decision,
      categories: sent.categories ?? null,
      services: sent.services ?? null,
      notice: presentation?.notice?.text,
    });
    return fate === 'lost' ? { ...none, status: 0 } : { ...none, status: 202, acceptance };
  }

  /** Consents in force of one visitor, newest first. */
  status(visitor: string, type: string): readonly InForce[] {
    return this.records.filter((record) => record.visitor === visitor && record.type === type).toReversed();
  }
}
