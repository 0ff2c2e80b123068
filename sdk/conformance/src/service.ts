/** The outcome of a request. `lost`: the service records the consent, and the answer does not arrive. */
export type Fate = 'answered' | 'lost' | 'away' | 'busy' | 'broken' | 'refused';

/** A consent that the service has on record. */
export interface ModelRecord {
  readonly consent_token: string;
  readonly proof_hash: string;
  readonly created_at: string;
  readonly decision: string;
  readonly categories: Record<string, boolean> | null;
  readonly services: Record<string, boolean> | null;
  readonly key: string;
  readonly visitor: string;
  readonly type: string;
  readonly document_version_id: string;
  readonly language: string;
  readonly valid_until: null;
  readonly ask_again_at: null;
  /** `account` if a person token vouched for the visitor. */
  readonly scope: 'device' | 'account';
  /** Words of the notice that it states. */
  readonly notice: string | undefined;
}

/** The answer to an accepted consent. */
interface Acceptance {
  readonly consent_token: string;
  readonly proof_hash: string;
  readonly created_at: string;
  readonly duplicate: boolean;
  readonly promise: null;
}

interface Answer {
  /** HTTP status; 0 if no answer arrives. */
  readonly status: number;
  readonly body: null;
  readonly retryAfterMs: null;
  readonly acceptance?: Acceptance;
}

/** The part of a consent that the service reads here. */
interface Sent {
  readonly idempotency_key: string;
  readonly consent_type: string;
  readonly decision: string;
  readonly visitor_id?: string;
  readonly categories?: Record<string, boolean>;
  readonly services?: Record<string, boolean>;
  readonly document_version_id?: string;
  readonly language?: string;
  readonly person_token?: string;
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
  /** The person of each token that is not used up. */
  readonly #tokens = new Map<string, string>();
  readonly #keys = new Map<string, { readonly acceptance: Acceptance; readonly at: number }>();

  /** @param now milliseconds of the service's clock */
  constructor(private readonly now: () => number) {}

  post(body: string, fate: Fate): Answer {
    const none = { body: null, retryAfterMs: null } as const;
    if (fate === 'away') return { ...none, status: 0 };
    if (fate === 'busy') return { ...none, status: 503 };
    if (fate === 'broken') return { ...none, status: 500 };
    const sent: Sent = JSON.parse(body);
    const { idempotency_key: key, presentation } = sent;
    if ([key, sent.consent_type, sent.decision].some((one) => typeof one !== 'string'))
      throw new Error(`not a consent: ${body}`);
    const known = this.#keys.get(key);
    if (known !== undefined && this.now() - known.at < DAY_MS) {
      if (fate === 'lost') return { ...none, status: 0 };
      return { ...none, status: 202, acceptance: { ...known.acceptance, duplicate: true } };
    }
    const { person_token: personToken } = sent;
    const person = personToken === undefined ? undefined : this.#tokens.get(personToken);
    const isForged = personToken !== undefined && (person === undefined || person !== sent.visitor_id);
    // It refuses again what it refused.
    if (fate === 'refused' || this.refused.has(key) || isForged) {
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
    if (personToken !== undefined) this.#tokens.delete(personToken);
    this.#keys.set(key, { acceptance, at: this.now() });
    this.records.push({
      ...acceptance,
      key,
      visitor: sent.visitor_id ?? '',
      type: sent.consent_type,
      decision: sent.decision,
      categories: sent.categories ?? null,
      services: sent.services ?? null,
      document_version_id: sent.document_version_id ?? '',
      language: sent.language ?? '',
      valid_until: null,
      ask_again_at: null,
      scope: person === undefined ? 'device' : 'account',
      notice: presentation?.notice?.text,
    });
    return fate === 'lost' ? { ...none, status: 0 } : { ...none, status: 202, acceptance };
  }

  /** A token of the site's backend for one act of a person. */
  mint(person: string): string {
    const token = `hpt_${this.#tokens.size + this.records.length}-${person}-${this.now()}`;
    this.#tokens.set(token, person);
    return token;
  }

  /** What a person has decided for all devices, newest first, for whoever has a token. */
  accountOf(token: string, asked: readonly (readonly string[])[]): readonly object[] {
    const person = this.#tokens.get(token);
    return this.records
      .filter(({ scope, visitor }) => scope === 'account' && visitor === person)
      .map((record) => ({ ...record, consent_type: record.type, asked, exempt: [] }))
      .reverse();
  }

  /** Consents in force of one visitor, newest first. */
  status(visitor: string, type: string): readonly ModelRecord[] {
    return this.records.filter((record) => record.visitor === visitor && record.type === type).reverse();
  }
}
