import * as z from 'zod';

const Sent = z.object({
  idempotency_key: z.string(),
  consent_type: z.string(),
  decision: z.enum(['accepted', 'partial', 'rejected', 'withdrawn']),
  visitor_id: z.string().optional(),
  categories: z.record(z.string(), z.boolean()).nullish(),
  document_version_id: z.string(),
  language: z.string(),
  scope: z.string().optional(),
  person_token: z.string().optional(),
  metadata: z.looseObject({ chosen_at: z.string() }).optional(),
});

/** A consent on record. */
export interface Recorded {
  readonly consent_token: string;
  readonly proof_hash: string;
  readonly created_at: string;
  readonly consent_type: string;
  readonly decision: string;
  readonly categories: Record<string, boolean> | null;
  readonly services: null;
  readonly document_version_id: string;
  readonly language: string;
  readonly valid_until: string | null;
  readonly ask_again_at: string | null;
  readonly scope: 'device' | 'account';
  readonly visitor: string;
  readonly chosen_at: string;
  readonly asked: readonly (readonly string[])[];
  readonly exempt: readonly string[];
}

const MINUTES_15 = 15 * 60_000;
const DAY_MS = 86_400_000;
/** Consents that a status has at most. */
const MOST_ITEMS = 20;

/** What the interface specification says of consents, person tokens and status, written down once more. */
export class AccountService {
  readonly records: Recorded[] = [];
  readonly #tokens = new Map<string, { readonly person: string; readonly until: number; isUsed: boolean }>();
  readonly #answers = new Map<string, Recorded>();

  /** @param believesScope a fault: whether it records the scope that a browser claims */
  constructor(
    private readonly now: () => number,
    private readonly believesScope = false,
  ) {}

  /** Called by the site's backend. */
  mint(person: string): string {
    const token = `hpt_${this.#tokens.size}`;
    this.#tokens.set(token, { person, until: this.now() + MINUTES_15, isUsed: false });
    return token;
  }

  record(body: object, rules: Readonly<Record<string, string>> = {}) {
    const sent = Sent.parse(body);
    const known = this.#answers.get(sent.idempotency_key);
    if (known !== undefined) return accepted(known, true);
    const token = sent.person_token === undefined ? undefined : this.#tokens.get(sent.person_token);
    if (sent.person_token !== undefined) {
      if (token === undefined || token.until <= this.now()) return refused('PERSON_TOKEN_INVALID');
      const isOther = sent.visitor_id !== undefined && sent.visitor_id !== token.person;
      if (token.isUsed || isOther) return refused('PERSON_TOKEN_CONFLICT');
      token.isUsed = true;
    }
    const at = this.now();
    const isPermit = sent.decision === 'accepted' || sent.decision === 'partial';
    const made: Recorded = {
      consent_token: `ct_${this.#answers.size.toString().padStart(32, '0')}`,
      proof_hash: 'f'.repeat(64),
      created_at: new Date(at).toISOString(),
      consent_type: sent.consent_type,
      decision: sent.decision,
      categories: sent.categories ?? null,
      services: null,
      document_version_id: sent.document_version_id,
      language: sent.language,
      valid_until: isPermit && sent.consent_type === 'cookie' ? new Date(at + 180 * DAY_MS).toISOString() : null,
      ask_again_at: isPermit ? null : new Date(at + 200 * DAY_MS).toISOString(),
      scope: token !== undefined || (this.believesScope && sent.scope === 'account') ? 'account' : 'device',
      chosen_at: sent.metadata?.chosen_at ?? '',
      visitor: token?.person ?? sent.visitor_id ?? '',
      asked: [['analytics', 'marketing'].filter((key) => rules[key] === undefined), []],
      exempt: Object.keys(rules).filter((key) => rules[key] === 'exempt'),
    };
    this.#answers.set(sent.idempotency_key, made);
    this.records.push(made);
    return accepted(made, false);
  }

  status(visitor: string, token: string | undefined, type?: string) {
    const found = this.#tokens.get(token ?? '');
    if (token !== undefined && (found?.person !== visitor || found.until <= this.now()))
      return refused('PERSON_TOKEN_INVALID');
    const consents = this.records
      .filter((one) => one.visitor === visitor && (token === undefined || one.scope === 'account'))
      .filter((one) => type === undefined || one.consent_type === type)
      .reverse()
      .slice(0, MOST_ITEMS);
    return { status: 200, data: { consents } };
  }

  /** Somebody who has a page's key, and knows the person's reference. */
  forge(person: string, at: number): void {
    for (const [index, person_token] of [undefined, 'hpt_guess', this.mint('forger')].entries())
      this.record({
        idempotency_key: `forged ${at} ${index}`,
        consent_type: 'cookie',
        decision: 'accepted',
        visitor_id: person,
        categories: { necessary: true, analytics: true, marketing: true },
        document_version_id: 'v1',
        language: 'en',
        scope: 'account',
        person_token,
      });
  }

  erase(person: string): void {
    for (let at = this.records.length - 1; at >= 0; at -= 1)
      if (this.records[at]?.visitor === person) this.records.splice(at, 1);
    for (const [token, { person: owner }] of this.#tokens) if (owner === person) this.#tokens.delete(token);
  }
}

function accepted({ consent_token, proof_hash, created_at }: Recorded, duplicate: boolean) {
  return { status: 202, data: { consent_token, proof_hash, created_at, duplicate, promise: null } };
}

function refused(code: string) {
  return { status: 422, code, message: code };
}
