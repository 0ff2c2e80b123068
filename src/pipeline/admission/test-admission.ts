import type pg from 'pg';
import * as z from 'zod';
import { eventIdOfConsentToken, testConsentToken } from '../../../schemas/events/consent-recorded.js';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { lockTestRecords } from '../../platform/database/shared-statements.js';
import { RequestRefused } from '../../platform/errors.js';
import { testProofKey } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { type Admission, type AdmissionSurroundings, admissionTo } from './admission.js';
import type { ConsentOutcome, Original, Submission, SubmissionOutcome, SubmittedConsent } from './admit-group.js';
import { findTestTokens, mintApprovalToken, mintPersonToken, TEST_TOKENS } from './approval-tokens.js';
import { createGroupCommitter } from './group-committer.js';
import type { ParsedConsent } from './parse-consents.js';
import type { PreparedConsent } from './prepare-consent.js';
import type { PromisedOutcome } from './promises.js';
import type { ConsentResult } from './results.js';

/** Admits consents of test keys, and mints their tokens. */
export type TestAdmission = Pick<Admission, 'admit' | 'mint' | 'mintForPerson'>;

export interface TestAdmissionOptions extends AdmissionSurroundings {
  /** Connections in the role `consent_ledger_api`. */
  readonly db: pg.Pool;
  /** Uses up the nonce of a request. A nonce is valid once per site, whichever key it comes with. */
  readonly useNonce: Admission['useNonce'];
}

const RETRY_AFTER_SECONDS = 2;
/** Requests that wait for their turn. */
const MAX_WAITING = 200;
const NO_CONNECTION = { ipAddress: null, userAgent: null } as const;

/**
 * Creates the admission of test keys. It checks and decides like that of live keys, but stores what it accepts in
 * separate tables. Nothing reaches outbox, log, ledger or webhooks, and nothing is promised.
 */
export function createTestAdmission(options: TestAdmissionOptions): TestAdmission {
  const { db, random, useNonce, onError } = options;
  // Groups are sent one at a time per process, so that any number of test records takes only one connection away from
  // live consents.
  const committer = createGroupCommitter<Submission, PromisedOutcome>({
    send: (submissions) => Promise.all(submissions.map((submission) => put(db, submission))),
    keysOf: () => [],
    weightOf: () => 1,
    maxItems: 1,
    maxWeight: 1,
    maxInFlight: 1,
    maxWaiting: MAX_WAITING,
    overloaded: () => new RequestRefused('QUEUE_OVERLOADED', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS }),
    isItemFault: () => false,
  });
  const submit = async (submission: Submission): Promise<PromisedOutcome> => {
    if (submission.consents.length === 0) return { request: 'fresh', consents: [], promises: [] };
    try {
      return await committer.submit(submission);
    } catch (error) {
      if (error instanceof RequestRefused) throw error;
      onError(error);
      throw new RequestRefused('ADMISSION_UNAVAILABLE', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
  };
  const { admit, mint, mintForPerson } = admissionTo(options, {
    submit,
    findTokens: (site, tokens) => findTestTokens(db, site, tokens),
    mint: (site, request) => mintApprovalToken(db, random, site, request, TEST_TOKENS),
    mintForPerson: (site, request) => mintPersonToken(db, random, site, request, TEST_TOKENS),
    keysOf: withTestKeys,
    isFull: () => false,
    sealWithinMs: 0,
  });
  return {
    mint: async (request, parse) => {
      await useNonce(request);
      return mint(request, parse);
    },
    mintForPerson: async (request, parse) => {
      await useNonce(request);
      return mintForPerson(request, parse);
    },
    admit: async (request, parse) => {
      await useNonce(request);
      const asked = { ...request, connection: NO_CONNECTION };
      const { consents, conflicts } = await admit(asked, () => parse().map(withoutConnection));
      return { consents: consents.map(marked), conflicts };
    },
  };
}

async function put(db: pg.Pool, submission: Submission): Promise<PromisedOutcome> {
  const outcome = await putTestRecords(db, submission);
  return { ...outcome, promises: outcome.consents.map(() => null) };
}

/**
 * Returns the site with keys for test records. Blind indexes use the site's own key, so that the erasure of a person
 * finds test records; proof hashes do not.
 */
function withTestKeys(site: SiteContext): SiteContext {
  return { ...site, proofKey: { id: site.proofKey.id, key: testProofKey(site.proofKey.key) } };
}

/** Removes address and user agent, which a test record never has, even if a backend states them. */
function withoutConnection(consent: ParsedConsent): ParsedConsent {
  const { ip_address: _address, user_agent: _agent, ...request } = consent.request;
  return { ...consent, request };
}

function marked(result: ConsentResult): ConsentResult {
  if (result.status !== 'accepted') return result;
  const eventId = eventIdOfConsentToken(result.consentToken);
  if (eventId === null) throw new Error('an accepted consent has no token');
  return { ...result, consentToken: testConsentToken(eventId) };
}

/** Number of test records that a site keeps. The oldest are deleted. */
export const MAX_TEST_RECORDS = 10_000;

const Revision = z.array(z.object({ config_revision: z.int() }));

/**
 * Stores the consents of one request of a test key in one transaction, and decides as `admit_group` does. Test
 * records use up no quota.
 * @throws database errors
 */
function putTestRecords(
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
      else outcomes.push({ kind: await putRecords(db, siteId, consent, tokens) });
    }
    await db.query(
      `delete from test_records where site_id = $1 and number <=
         (select number from test_records where site_id = $1 order by number desc offset ${MAX_TEST_RECORDS} limit 1)`,
      [siteId],
    );
    return { request: isRefused ? 'refused' : 'fresh', consents: outcomes };
  });
}

/**
 * Stores one consent that no idempotency key answers.
 * @param tokens the object that is told which token the consent used
 */
async function putRecords(
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

/** Returns the outcome for a site that has changed since the consents were evaluated. */
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

/** Reads the responses that idempotency keys got within 24 hours, by the digests of the keys in hex. */
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
        // Test records come without a promise.
        recordDigest: Buffer.alloc(0),
        sealedBefore: 0,
        bodyDigest: row.body_digest,
      },
    ]),
  );
}

function originalOf(originals: ReadonlyMap<string, Known>, consent: SubmittedConsent): Original | undefined {
  const { idempotency, bodyDigest } = consent;
  const known = idempotency === null ? undefined : originals.get(idempotency.toString('hex'));
  // After an erasure there is no body to compare with, so the request counts as the same.
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

/** Attachments are checked but not stored: a test record has only their digests. */
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
