import type pg from 'pg';
import { z } from 'zod';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { byteaArray, int4Array, int8Array, textArray, timestamptzArray, uuidArray } from './binary-arrays.js';
import type { PreparedConsent } from './prepare-consent.js';

/** One consent of a submission. What is refused is sent too if its idempotency key might be remembered. */
export interface SubmittedConsent {
  /** `whole`: refuses its submission, `item`: itself; neither holds for a duplicate. */
  readonly refusal: 'none' | 'whole' | 'item';
  /** Null for what is refused. */
  readonly prepared: PreparedConsent | null;
  readonly idempotency: Buffer | null;
  readonly bodyDigest: Buffer | null;
}

/** One signed request on its way to the database. Without consents it only uses up its nonce. */
export interface Submission {
  readonly site: Pick<SiteContext, 'siteId' | 'tenantId' | 'configRevision'>;
  /** Null if an earlier try of the same request has used it up. */
  readonly nonce: Buffer | null;
  readonly consents: readonly SubmittedConsent[];
}

/** The answer that an idempotency key got the first time. */
export interface Original {
  readonly eventId: string;
  readonly proofHash: string;
  /** Unix milliseconds. */
  readonly createdAt: number;
  readonly sameBody: boolean;
}

export type ConsentOutcome =
  | { readonly kind: 'accepted' }
  | { readonly kind: 'duplicate'; readonly original: Original }
  | {
      readonly kind: 'refused' | 'token_invalid' | 'token_used' | 'no_subscription' | 'quota_used_up' | 'not_judged';
    };

export interface SubmissionOutcome {
  readonly request: 'fresh' | 'replayed' | 'stale' | 'refused';
  readonly consents: readonly ConsentOutcome[];
}

const ACCEPTED: ConsentOutcome = { kind: 'accepted' };
const REQUEST_LETTERS: Readonly<Record<string, SubmissionOutcome['request']>> = {
  F: 'fresh',
  N: 'replayed',
  S: 'stale',
  W: 'refused',
};
const ITEM_LETTERS: Readonly<Record<string, ConsentOutcome>> = {
  A: ACCEPTED,
  R: { kind: 'refused' },
  T: { kind: 'token_invalid' },
  C: { kind: 'token_used' },
  P: { kind: 'no_subscription' },
  Q: { kind: 'quota_used_up' },
  X: { kind: 'not_judged' },
};
const REFUSALS = { none: 0, whole: 1, item: 2 } as const;

const Answer = z.tuple([
  z.object({
    requests: z.string(),
    items: z.string(),
    originals: z
      .array(
        z.object({
          item: z.int(),
          event_id: z.string(),
          proof_hash: z.string(),
          created_at: z.int(),
          same_body: z.boolean(),
        }),
      )
      .nullable(),
  }),
]);

const PARAMETERS = 24;
const QUERY = {
  name: 'admit_group',
  text: `select requests, items, originals from admit_group(${Array.from({ length: PARAMETERS }, (_, i) => `$${i + 1}`).join(', ')})`,
};

/**
 * Admits a group of submissions in one transaction; when this resolves, what was accepted is durable.
 * @param submissions no nonce and no idempotency key twice
 * @throws pg.DatabaseError if the server refused (nothing of the group is kept); any other error leaves the outcome unknown
 */
export async function admitGroup(pool: pg.Pool, submissions: readonly Submission[]): Promise<SubmissionOutcome[]> {
  const { rows } = await pool.query({ ...QUERY, values: parametersOf(submissions) });
  const [{ requests, items, originals }] = Answer.parse(rows);
  const originalByItem = new Map<number, Original>(
    (originals ?? []).map((o) => [
      o.item,
      { eventId: o.event_id, proofHash: o.proof_hash, createdAt: o.created_at, sameBody: o.same_body },
    ]),
  );
  let item = 0;
  return submissions.map(({ consents }, index) => ({
    request: known(REQUEST_LETTERS[requests.charAt(index)]),
    consents: consents.map(() => {
      const letter = items.charAt(item);
      item += 1;
      if (letter !== 'D') return known(ITEM_LETTERS[letter]);
      return { kind: 'duplicate', original: known(originalByItem.get(item)) };
    }),
  }));
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('admit_group answered what this program does not know');
  return value;
}

const NO_UUID = '00000000-0000-0000-0000-000000000000';

function parametersOf(submissions: readonly Submission[]): Buffer[] {
  const tenants = new Map<string, number>();
  const sites = new Map<string, { readonly number: number; readonly site: Submission['site']; tenant: number }>();
  const requestSites: number[] = [];
  const itemRequests: number[] = [];
  const itemSites: number[] = [];
  const items: SubmittedConsent[] = [];
  for (const { site, consents } of submissions) {
    const name = `${site.siteId} ${site.configRevision}`;
    let entry = sites.get(name);
    if (entry === undefined) {
      entry = { number: sites.size + 1, site, tenant: 0 };
      sites.set(name, entry);
    }
    requestSites.push(entry.number);
    if (consents.length > 0 && entry.tenant === 0) {
      entry.tenant = tenants.get(site.tenantId) ?? tenants.size + 1;
      tenants.set(site.tenantId, entry.tenant);
    }
    for (const item of consents) {
      itemRequests.push(requestSites.length);
      itemSites.push(entry.number);
      items.push(item);
    }
  }
  const bySite = [...sites.values()];
  const prepared = items.map((item) => item.prepared);
  const attachments = prepared.flatMap((p, i) => (p?.attachments ?? []).map((a) => ({ ...a, item: i + 1 })));
  return [
    uuidArray([...tenants.keys()]),
    uuidArray(bySite.map(({ site }) => site.siteId)),
    int8Array(bySite.map(({ site }) => site.configRevision)),
    int4Array(bySite.map(({ tenant }) => tenant)),
    int4Array(requestSites),
    byteaArray(submissions.map(({ nonce }) => nonce)),
    int4Array(itemRequests),
    int4Array(itemSites),
    int4Array(items.map(({ refusal }) => REFUSALS[refusal])),
    uuidArray(prepared.map((p) => p?.eventId ?? NO_UUID)),
    byteaArray(prepared.map((p) => p?.body ?? null)),
    byteaArray(prepared.map((p) => p?.proofHash ?? null)),
    timestamptzArray(prepared.map((p) => p?.createdAt ?? 0)),
    byteaArray(prepared.map((p) => p?.seed ?? null)),
    byteaArray(prepared.map((p) => p?.indexes.visitor ?? null)),
    byteaArray(prepared.map((p) => p?.indexes.email ?? null)),
    byteaArray(prepared.map((p) => p?.indexes.phone ?? null)),
    byteaArray(prepared.map((p) => p?.indexes.id_number ?? null)),
    byteaArray(items.map(({ idempotency }) => idempotency)),
    byteaArray(items.map((item) => item.bodyDigest)),
    textArray(prepared.map((p) => p?.tokenId ?? null)),
    int4Array(attachments.map(({ item }) => item)),
    uuidArray(attachments.map(({ id }) => id)),
    byteaArray(attachments.map(({ ciphertext }) => ciphertext)),
  ];
}
