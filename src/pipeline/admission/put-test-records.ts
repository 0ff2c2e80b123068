import * as z from 'zod';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { lockTestRecords } from '../../platform/database/shared-statements.js';
import type { ConsentOutcome, Original, Submission, SubmissionOutcome, SubmittedConsent } from './admit-group.js';
import type { PreparedConsent } from './prepare-consent.js';

/** Test records that a site keeps; the oldest give way. */
export const MAX_TEST_RECORDS = 10_000;

const Revision = z.array(z.object({ config_revision: z.int() }));

/**
 * Stores the consents of one request of a test key in one transaction, and decides as `admit_group` does. Test
 * records use up no quota.
 * @throws database errors
 */
export function putTestRecords(
  db: Queryable,
  { site: { siteId, configRevision }, consents }: Pick<Submission, 'site' | 'consents'>,
): Promise<SubmissionOutcome> {
  return withTransaction(db, async (db) => {
    await lockTestRecords(db, siteId);
    const { rows } = await db.query('select config_revision from sites where id = $1', [siteId]);
    if (Revision.parse(rows)[0]?.config_revision !== configRevision) return undecided(consents);
    const originals = await originalsOf(db, siteId, consents);
    const isRefused = consents.some((one) => one.refusal === 'whole' && originalOf(originals, one) === undefined);
    const tokens = await tokensOf(db, siteId, consents);
    const outcomes: ConsentOutcome[] = [];
    for (const consent of consents) {
      const original = originalOf(originals, consent);
      if (original !== undefined) outcomes.push({ kind: 'duplicate', original });
      else if (isRefused) outcomes.push({ kind: 'not_evaluated' });
      else outcomes.push({ kind: await put(db, siteId, consent, tokens) });
    }
    await db.query(
      `delete from test_records where site_id = $1 and number <=
         (select number from test_records where site_id = $1 order by number desc offset ${MAX_TEST_RECORDS} limit 1)`,
      [siteId],
    );
    return { request: isRefused ? 'refused' : 'fresh', consents: outcomes };
  });
}

/** Stores one consent that no idempotency key answers. @param tokens is told which token it used */
async function put(
  db: Queryable,
  siteId: string,
  consent: SubmittedConsent,
  tokens: Map<string, TokenState>,
): Promise<'accepted' | 'refused' | Exclude<TokenState, 'usable'>> {
  const { refusal, prepared } = consent;
  if (refusal !== 'none' || prepared === null) return 'refused';
  const { tokenId } = prepared;
  const state = tokenId === null ? 'usable' : (tokens.get(tokenId) ?? 'token_invalid');
  if (state !== 'usable') return state;
  await insert(db, siteId, consent, prepared);
  if (tokenId !== null) tokens.set(tokenId, 'token_used');
  return 'accepted';
}

/** The site changed since the consents were evaluated. */
function undecided(consents: readonly SubmittedConsent[]): SubmissionOutcome {
  return { request: 'stale', consents: consents.map(() => ({ kind: 'not_evaluated' })) };
}

interface Known extends Omit<Original, 'sameBody'> {
  readonly bodyDigest: Buffer | null;
}

const OriginalRows = z.array(
  z.object({
    idempotency: z.instanceof(Buffer),
    event_id: z.string(),
    proof_hash: z.instanceof(Buffer),
    created_at: z.date(),
    body_digest: z.instanceof(Buffer).nullable(),
  }),
);

/** The answers that idempotency keys got within 24 hours, by the digests of the keys in hex. */
async function originalsOf(
  db: Queryable,
  siteId: string,
  consents: readonly SubmittedConsent[],
): Promise<ReadonlyMap<string, Known>> {
  const keys = consents.flatMap(({ idempotency }) => idempotency ?? []);
  if (keys.length === 0) return new Map();
  const { rows } = await db.query(
    `select idempotency, event_id, proof_hash, created_at, body_digest from test_records
      where site_id = $1 and idempotency = any($2) and created_at > now() - interval '24 hours' order by number`,
    [siteId, keys],
  );
  return new Map(
    OriginalRows.parse(rows).map((row) => [
      row.idempotency.toString('hex'),
      {
        eventId: row.event_id,
        proofHash: row.proof_hash.toString('hex'),
        createdAt: row.created_at.getTime(),
        // A test record is promised nothing.
        ...{ recordDigest: Buffer.alloc(0), sealedBefore: 0 },
        bodyDigest: row.body_digest,
      },
    ]),
  );
}

function originalOf(originals: ReadonlyMap<string, Known>, consent: SubmittedConsent): Original | undefined {
  const { idempotency, bodyDigest } = consent;
  const known = idempotency === null ? undefined : originals.get(idempotency.toString('hex'));
  // Once the record is erased, no body can be compared: it counts as the same.
  return known && { ...known, sameBody: known.bodyDigest === null || bodyDigest?.equals(known.bodyDigest) === true };
}

type TokenState = 'usable' | 'token_used' | 'token_invalid';

const TokenRows = z.array(z.object({ id: z.string(), state: z.enum(['usable', 'token_used', 'token_invalid']) }));

async function tokensOf(
  db: Queryable,
  siteId: string,
  consents: readonly SubmittedConsent[],
): Promise<Map<string, TokenState>> {
  const ids = consents.flatMap(({ prepared }) => prepared?.tokenId ?? []);
  if (ids.length === 0) return new Map();
  const { rows } = await db.query(
    `select id, case when consumed_by is not null then 'token_used'
                     when expires_at <= clock_timestamp() then 'token_invalid' else 'usable' end as state
       from test_approval_tokens where site_id = $1 and id = any($2)`,
    [siteId, ids],
  );
  return new Map(TokenRows.parse(rows).map(({ id, state }) => [id, state]));
}

/** Attachments are checked, and not kept: a test record has their digests alone. */
async function insert(
  db: Queryable,
  siteId: string,
  { idempotency, bodyDigest }: SubmittedConsent,
  { eventId, createdAt, body, proofHash, seed, indexes, tokenId }: PreparedConsent,
): Promise<void> {
  await db.query(
    `insert into test_records (event_id, site_id, created_at, body, proof_hash, seed, visitor_index, email_index,
       phone_index, id_number_index, idempotency, body_digest)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)`,
    [
      ...[eventId, siteId, new Date(createdAt), body, proofHash, seed],
      ...[indexes.visitor, indexes.email, indexes.phone, indexes.id_number, idempotency, bodyDigest],
    ],
  );
  if (tokenId !== null)
    await db.query('update test_approval_tokens set consumed_by = $2 where id = $1', [tokenId, eventId]);
}
