import type pg from 'pg';
import { eventIdOfConsentToken, testConsentToken } from '../../../schemas/events/consent-recorded.js';
import { RequestRefused } from '../../platform/errors.js';
import { testProofKey } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { type Admission, type AdmissionSurroundings, admissionTo } from './admission.js';
import type { Submission } from './admit-group.js';
import { findTestTokens, mintApprovalToken, TEST_TOKENS } from './approval-tokens.js';
import { createGroupCommitter } from './group-committer.js';
import type { ParsedConsent } from './parse-consents.js';
import type { PromisedOutcome } from './promises.js';
import { putTestRecords } from './put-test-records.js';
import type { ConsentResult } from './results.js';

/** Admits consents of test keys, and mints their approval tokens. */
export type TestAdmission = Pick<Admission, 'admit' | 'mint'>;

export interface TestAdmissionOptions extends AdmissionSurroundings {
  /** Connections in the role `consent_ledger_api`. */
  readonly db: pg.Pool;
  /** Uses up the nonce of a request: a nonce counts once for a site, whatever key it came with. */
  readonly useNonce: Admission['useNonce'];
}

const RETRY_AFTER_SECONDS = 2;
/** Requests that wait for their turn. */
const MAX_WAITING = 200;
const NO_CONNECTION = { ipAddress: null, userAgent: null } as const;

/**
 * Creates the admission of test keys. It checks and decides as that of live keys does, and stores what it accepts
 * in tables of its own: nothing of it reaches outbox, log, ledger or webhooks, and nothing is promised.
 */
export function createTestAdmission(options: TestAdmissionOptions): TestAdmission {
  const { db, random, useNonce, onError } = options;
  // One at a time in a process: however many test records arrive, they take one connection from consents.
  const committer = createGroupCommitter<Submission, PromisedOutcome>({
    send: (submissions) => Promise.all(submissions.map((submission) => put(db, submission))),
    keysOf: () => [],
    weightOf: () => 1,
    ...{ maxItems: 1, maxWeight: 1, maxInFlight: 1, maxWaiting: MAX_WAITING },
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
  const { admit, mint } = admissionTo(options, {
    submit,
    findTokens: (site, tokens) => findTestTokens(db, site, tokens),
    mint: (site, request) => mintApprovalToken(db, random, site, request, TEST_TOKENS),
    keysOf: withTestKeys,
    isFull: () => false,
    sealWithinMs: 0,
  });
  return {
    mint: async (request, parse) => {
      await useNonce(request);
      return mint(request, parse);
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
 * Blind indexes stay those of the site, so that the erasure of a person finds the test records; proof hashes do not.
 */
function withTestKeys(site: SiteContext): SiteContext {
  return { ...site, proofKey: { id: site.proofKey.id, key: testProofKey(site.proofKey.key) } };
}

/** A test record has neither address nor user agent, also if a backend states them. */
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
