import type pg from 'pg';
import * as z from 'zod';
import { byteaArray, uuidArray } from '../../platform/database/parameters.js';
import { type ServerBinding, STATED_SERVER } from '../../platform/database/server-binding.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { type FieldWriter, recordArray, uuidBytes } from './binary-records.js';
import type { PreparedConsent } from './prepare-consent.js';

/**
 * One consent of a submission. A refused consent is sent too, because its idempotency key may be
 * stored.
 */
export interface SubmittedConsent {
  /**
   * `whole` refuses the submission, `item` refuses this consent. Neither applies to a duplicate.
   */
  readonly refusal: 'none' | 'whole' | 'item';
  /** Null for a refused consent. */
  readonly prepared: PreparedConsent | null;
  readonly idempotency: Buffer | null;
  readonly bodyDigest: Buffer | null;
}

/**
 * One signed request as it is sent to the database. A submission without consents only consumes its
 * nonce.
 */
export interface Submission {
  readonly site: Pick<SiteContext, 'siteId' | 'tenantId' | 'configRevision'>;
  /** Null if an earlier attempt of the same request consumed the nonce. */
  readonly nonce: Buffer | null;
  /** Whether its key is publishable. Such keys may not use a reserved part of the quota. */
  readonly isPublishable: boolean;
  readonly consents: readonly SubmittedConsent[];
}

/** The first response to an idempotency key. */
export interface Original {
  readonly eventId: string;
  readonly proofHash: string;
  /** SHA-256 of the record's canonical text, 32 bytes. */
  readonly recordDigest: Uint8Array;
  /** Unix milliseconds. */
  readonly createdAt: number;
  /** Time before which the service promised to seal the record, in Unix milliseconds. */
  readonly sealedBefore: number;
  readonly sameBody: boolean;
}

/** Outcomes of a consent as `admit_group` names them, except `duplicate`. */
const PLAIN_OUTCOMES = [
  'accepted',
  'refused',
  'token_invalid',
  'token_used',
  'no_subscription',
  'quota_used_up',
  'not_evaluated',
] as const;

export type ConsentOutcome =
  | { readonly kind: 'duplicate'; readonly original: Original }
  | { readonly kind: (typeof PLAIN_OUTCOMES)[number] };

const REQUEST_OUTCOMES = ['fresh', 'replayed', 'stale', 'refused'] as const;

export interface SubmissionOutcome {
  readonly request: (typeof REQUEST_OUTCOMES)[number];
  readonly consents: readonly ConsentOutcome[];
}

const Answer = z.tuple([
  z.object({
    server: z.string(),
    requests: z.array(z.enum(REQUEST_OUTCOMES)),
    items: z.array(z.enum([...PLAIN_OUTCOMES, 'duplicate'])),
    originals: z
      .array(
        z.object({
          item: z.int(),
          event_id: z.string(),
          proof_hash: z.string().startsWith('\\x'),
          record_digest: z.string().startsWith('\\x'),
          created_at: z.iso.datetime({ offset: true }),
          sealed_before: z.iso.datetime({ offset: true }),
          same_body: z.boolean(),
        }),
      )
      .nullable(),
  }),
]);

const QUERY = {
  name: 'admit_group',
  text: `select ${STATED_SERVER} as server, requests::text[], items::text[], to_jsonb(originals) as originals
    from admit_group($1, $2, $3, $4, $5, $6)`,
};

/**
 * Admits a group of submissions in one transaction. When it resolves, the accepted consents are
 * durable on the server that it was given.
 * @param submissions must not contain a nonce or an idempotency key twice
 * @param server the server that must have answered; if absent, any server may have
 * @throws ServerChanged if another server answered, because its answer proves nothing
 * @throws pg.DatabaseError if the server rejected the group; then nothing of the group is stored.
 *   After any other error the outcome is unknown.
 */
export async function admitGroup(
  db: pg.Pool,
  submissions: readonly Submission[],
  server?: Pick<ServerBinding, 'confirm'>,
): Promise<SubmissionOutcome[]> {
  const { rows } = await db.query({ ...QUERY, values: parametersOf(submissions) });
  const [{ server: stated, requests, items, originals }] = Answer.parse(rows);
  server?.confirm(stated);
  const originalByItem = new Map<number, Original>(
    (originals ?? []).map((o) => [
      o.item,
      {
        eventId: o.event_id,
        proofHash: o.proof_hash.slice('\\x'.length),
        recordDigest: Buffer.from(o.record_digest.slice('\\x'.length), 'hex'),
        createdAt: Date.parse(o.created_at),
        sealedBefore: Date.parse(o.sealed_before),
        sameBody: o.same_body,
      },
    ]),
  );
  let item = 0;
  return submissions.map(({ consents }, index) => ({
    request: known(requests[index]),
    consents: consents.map(() => {
      const kind = known(items[item]);
      item += 1;
      return kind === 'duplicate' ? { kind, original: known(originalByItem.get(item)) } : { kind };
    }),
  }));
}

function known<T>(value: T | undefined): T {
  if (value === undefined) throw new Error('admit_group returned fewer outcomes than it was given items');
  return value;
}

/** A consent with its positions in the group, counted from 1. */
interface Item {
  readonly request: number;
  readonly tenant: number;
  readonly site: Site;
  readonly consent: SubmittedConsent;
}

interface Site {
  readonly place: number;
  readonly id: Buffer;
  readonly configRevision: number;
}

interface Request {
  /** Position of its site in the group, from 1. */
  readonly site: number;
  readonly nonce: Buffer | null;
  readonly isPublishable: boolean;
}

interface Attachment {
  readonly item: number;
  readonly id: string;
  readonly ciphertext: Buffer;
}

/** Encoded labels of the enum `admission_refusal`. */
const REFUSALS = { none: Buffer.from('none'), whole: Buffer.from('whole'), item: Buffer.from('item') } as const;

/** Estimated size of an `admission_item`, in bytes. */
const ITEM_BYTES = 400;

/** Returns the parameters of `admit_group` in order. */
function parametersOf(submissions: readonly Submission[]): Buffer[] {
  const tenants = new Map<string, number>();
  const sites = new Map<string, Site>();
  const requests: Request[] = [];
  const items: Item[] = [];
  const attachments: Attachment[] = [];
  for (const submission of submissions) {
    const { nonce, isPublishable, consents } = submission;
    const { siteId, tenantId, configRevision } = submission.site;
    const name = `${siteId} ${configRevision}`;
    const site = sites.get(name) ?? { place: sites.size + 1, id: uuidBytes(siteId), configRevision };
    sites.set(name, site);
    requests.push({ site: site.place, nonce, isPublishable });
    if (consents.length === 0) continue;
    const tenant = tenants.get(tenantId) ?? tenants.size + 1;
    tenants.set(tenantId, tenant);
    for (const consent of consents) {
      items.push({ request: requests.length, tenant, site, consent });
      for (const { id, ciphertext } of consent.prepared?.attachments ?? []) {
        attachments.push({ item: items.length, id, ciphertext });
      }
    }
  }
  const attachmentBytes = attachments.reduce((sum, { ciphertext }) => sum + ciphertext.length, 0);
  return [
    uuidArray([...tenants.keys()]),
    recordArray([...sites.values()], 2, writeSite, 64),
    recordArray(requests, 3, writeRequest, 64),
    recordArray(items, 18, writeItem, ITEM_BYTES),
    byteaArray(items.map(({ consent }) => consent.prepared?.body ?? null)),
    recordArray(attachments, 3, writeAttachment, 64 + Math.ceil(attachmentBytes / Math.max(1, attachments.length))),
  ];
}

function writeSite(fields: FieldWriter, site: Site): void {
  fields.uuid(site.id);
  fields.int8(site.configRevision);
}

function writeRequest(fields: FieldWriter, { site, nonce, isPublishable }: Request): void {
  fields.int4(site);
  fields.bytea(nonce);
  fields.bool(isPublishable);
}

function writeItem(fields: FieldWriter, { request, tenant, site, consent }: Item): void {
  const { prepared } = consent;
  fields.int4(request);
  fields.int4(tenant);
  fields.uuid(site.id);
  fields.label(REFUSALS[consent.refusal]);
  fields.bytea(consent.idempotency);
  fields.bytea(consent.bodyDigest);
  fields.uuid(prepared === null ? null : uuidBytes(prepared.eventId));
  fields.bytea(prepared?.proofHash ?? null);
  fields.bytea(prepared?.recordDigest ?? null);
  fields.timestamptz(prepared?.createdAt ?? null);
  fields.timestamptz(prepared?.sealedBefore ?? null);
  fields.bytea(prepared?.seed ?? null);
  fields.bytea(prepared?.indexes.visitor ?? null);
  fields.bytea(prepared?.indexes.email ?? null);
  fields.bytea(prepared?.indexes.phone ?? null);
  fields.bytea(prepared?.indexes.id_number ?? null);
  fields.bytea(prepared?.keyRowSeal ?? null);
  fields.text(prepared?.tokenId ?? null);
}

function writeAttachment(fields: FieldWriter, attachment: Attachment): void {
  fields.int4(attachment.item);
  fields.uuid(uuidBytes(attachment.id));
  fields.bytea(attachment.ciphertext);
}
