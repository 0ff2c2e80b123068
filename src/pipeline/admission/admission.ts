import type pg from 'pg';
import type { ApprovalTokenRequest, ApprovalTokenResponse } from '../../../schemas/api/approval-tokens.js';
import type { PersonTokenRequest, PersonTokenResponse } from '../../../schemas/api/person-tokens.js';
import type { ServerBinding } from '../../platform/database/server-binding.js';
import { RequestRefused } from '../../platform/errors.js';
import type { RandomPool, RowSeals } from '../../platform/keys/index.js';
import type { SiteContext, SiteDirectory } from '../../tenancy/directory/site-context.js';
import type { Submission } from './admit-group.js';
import { type FoundToken, findApprovalTokens, mintApprovalToken, mintPersonToken } from './approval-tokens.js';
import { createConflictNotes } from './conflict-notes.js';
import { type ParsedConsent, tokenIn } from './parse-consents.js';
import type { PromisedOutcome, Promises } from './promises.js';
import { type AdmissionResult, resultsOf } from './results.js';
import {
  type ConsentsRequest,
  nonceDigest,
  type SignedRequest,
  submissionInSteps,
  submissionOf,
} from './submission.js';
import { createSubmitter, DEFAULT_GROUP_LIMITS, type GroupLimits, type GroupObserver } from './submit.js';
import type { OutboxGauge } from './watches.js';

/**
 * Admits consents (docs/admission.md). Every method throws RequestRefused for an error of the
 * client and for a failure that the client can retry.
 */
export interface Admission {
  /**
   * Admits one consent or a submission batch. When it resolves, the accepted consents are durable.
   * @param parse reads the consents; the nonce is consumed whether `parse` throws or not
   * @throws RequestRefused if the single consent, or the submission batch as a whole, is refused
   */
  admit(request: ConsentsRequest, parse: () => readonly ParsedConsent[]): Promise<AdmissionResult>;
  /**
   * Mints an approval token.
   * @param parse reads the request; called after the nonce is consumed
   */
  mint(request: SignedRequest, parse: () => ApprovalTokenRequest): Promise<ApprovalTokenResponse['data']>;
  /** Mints a person token, in the same way. */
  mintForPerson(request: SignedRequest, parse: () => PersonTokenRequest): Promise<PersonTokenResponse['data']>;
  /**
   * Consumes the nonce of a request that another component handles.
   * @throws RequestRefused NONCE_REPLAYED, or a failure that the client can retry
   */
  useNonce(request: SignedRequest): Promise<void>;
  /** Resolves when no request is in progress. */
  drain(): Promise<void>;
}

export interface AdmissionOptions {
  /** Connections in the role `consent_ledger_api`. */
  readonly db: pg.Pool;
  /** The server that must answer. If absent, any server may answer. */
  readonly server?: ServerBinding;
  readonly directory: SiteDirectory;
  readonly seals: RowSeals;
  readonly random: RandomPool;
  /** Unix milliseconds. */
  readonly clock: () => number;
  readonly outbox: OutboxGauge;
  readonly promises: Promises;
  /** Receives database failures for the logger. */
  readonly onError: (error: unknown) => void;
  /** Receives failures to sign promises. The consents are accepted anyway, and the response has no promise. */
  readonly onUnsigned: (error: unknown) => void;
  readonly limits?: GroupLimits;
  readonly observer?: GroupObserver;
}

/** Where an admission stores consents and looks up tokens: the live records of a site, or its test records. */
export interface AdmissionStore {
  /** Stores the consents of one request. */
  submit(submission: Submission): Promise<PromisedOutcome>;
  /** @returns the site's tokens among `tokens`, by their secret */
  findTokens(site: SiteContext, tokens: readonly string[]): Promise<ReadonlyMap<string, FoundToken>>;
  mint(site: SiteContext, request: ApprovalTokenRequest): Promise<ApprovalTokenResponse['data']>;
  mintForPerson(site: SiteContext, request: PersonTokenRequest): Promise<PersonTokenResponse['data']>;
  /** The site with the keys of what is stored. */
  keysOf(site: SiteContext): SiteContext;
  /** Whether no further record can be stored at the moment. */
  isFull(): boolean;
  /** Milliseconds from `created_at` of a record to the promised deadline of its sealing. */
  readonly sealWithinMs: number;
}

/** The dependencies of every admission, regardless of its store. */
export type AdmissionSurroundings = Pick<AdmissionOptions, 'directory' | 'random' | 'clock' | 'onError'>;

/** Maximum number of evaluations of one request while its site keeps changing. */
const MAX_TRIES = 4;
const RETRY_AFTER_SECONDS = 2;

/** Creates the admission of live records, which are evidence. */
export function createAdmission(options: AdmissionOptions): Admission {
  const { db, random, outbox, promises } = options;
  const submitter = createSubmitter({
    db,
    server: options.server,
    promises,
    limits: options.limits ?? DEFAULT_GROUP_LIMITS,
    onError: options.onError,
    onUnsigned: options.onUnsigned,
    ...(options.observer === undefined ? {} : { observer: options.observer }),
  });
  const conflictNotes = createConflictNotes({ db, onError: options.onError });
  const { admit, ...others } = admissionTo(options, {
    submit: submitter.submit,
    findTokens: (site, tokens) => findApprovalTokens(db, options.seals, site, tokens),
    mint: (site, request) => mintApprovalToken(db, random, site, request),
    mintForPerson: (site, request) => mintPersonToken(db, random, site, request),
    keysOf: (site) => site,
    isFull: outbox.isFull,
    sealWithinMs: promises.sealWithinMs,
  });
  return {
    ...others,
    admit: async (request, parse) => {
      const results = await admit(request, parse);
      const ids = { siteId: request.caller.site.siteId, apiKeyId: request.caller.apiKey.id };
      for (const eventId of results.conflicts) conflictNotes.note({ ...ids, eventId });
      return results;
    },
    drain: async () => {
      await submitter.drain();
      await conflictNotes.drain();
    },
  };
}

/** Creates an admission for a store. Its checks and decisions are the same for every store. */
export function admissionTo(options: AdmissionSurroundings, store: AdmissionStore): Omit<Admission, 'drain'> {
  const { directory, random, clock } = options;

  /** Consumes the nonce of a request that is not submitted, or that is parsed afterwards. */
  const useNonce = async ({ caller, nonce }: SignedRequest): Promise<void> => {
    const { site } = caller;
    const digest = nonceDigest(site.siteId, nonce);
    const outcome = await store.submit({ site, nonce: digest, isPublishable: false, consents: [] });
    if (outcome.request === 'replayed') throw new RequestRefused('NONCE_REPLAYED');
  };

  const refreshed = async ({ caller, authorize }: SignedRequest): Promise<SiteContext> => {
    const site = await directory.refresh(caller.site.siteId);
    const apiKey = await directory.findApiKey(caller.rawApiKey);
    if (apiKey === null || apiKey.siteId !== site.siteId) throw new RequestRefused('INVALID_API_KEY');
    authorize(site);
    return site;
  };

  const explained = async <T>(work: Promise<T>): Promise<T> => {
    try {
      return await work;
    } catch (error) {
      if (error instanceof RequestRefused) throw error;
      options.onError(error);
      throw new RequestRefused('ADMISSION_UNAVAILABLE', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
    }
  };

  const findTokens = async (site: SiteContext, consents: readonly ParsedConsent[]) => {
    const tokens = consents.flatMap(({ request }) => tokenIn(request) ?? []);
    return tokens.length === 0 ? new Map<string, FoundToken>() : explained(store.findTokens(site, tokens));
  };

  const admitParsed = async (
    request: ConsentsRequest,
    consents: readonly ParsedConsent[],
  ): Promise<AdmissionResult> => {
    let site = store.keysOf(request.caller.site);
    let nonce: Buffer | null = nonceDigest(site.siteId, request.nonce);
    for (let tries = 1; tries <= MAX_TRIES; tries += 1) {
      const tokens = await findTokens(site, consents);
      const options = {
        request,
        consents,
        site,
        tokens,
        nonce,
        now: clock(),
        sealWithinMs: store.sealWithinMs,
        isOutboxFull: store.isFull(),
      };
      const evaluated =
        request.yieldToOthers === undefined
          ? submissionOf(options, random)
          : await submissionInSteps(options, random, request.yieldToOthers);
      const outcome = await store.submit(evaluated.submission);
      if (outcome.request === 'replayed') throw new RequestRefused('NONCE_REPLAYED');
      if (outcome.request !== 'stale') return resultsOf(request.shape, evaluated, outcome);
      nonce = null;
      site = store.keysOf(await refreshed(request));
    }
    throw new RequestRefused(
      'ADMISSION_UNAVAILABLE',
      'The site is being changed. Retry after the time in Retry-After.',
      { retryAfterSeconds: RETRY_AFTER_SECONDS },
    );
  };

  const minting =
    <R, T>(mint: (site: SiteContext, request: R) => Promise<T>) =>
    async (request: SignedRequest, parse: () => R): Promise<T> => {
      await useNonce(request);
      return explained(mint(request.caller.site, parse()));
    };

  return {
    admit: async (request, parse) => {
      let consents: readonly ParsedConsent[];
      try {
        consents = parse();
        await request.takeConsents?.(consents.length);
      } catch (error) {
        await useNonce(request);
        throw error;
      }
      await request.yieldToOthers?.();
      return admitParsed(request, consents);
    },
    mint: minting(store.mint),
    mintForPerson: minting(store.mintForPerson),
    useNonce,
  };
}
