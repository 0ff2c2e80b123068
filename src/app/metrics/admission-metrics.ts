import { Counter, Histogram, type Registry } from 'prom-client';
import { CONSENT_ERROR_CODES, type ErrorCode } from '../../../schemas/api/error-codes.js';
import { apiErrorOf } from '../../api/server/error-response.js';
import type { Admission } from '../../pipeline/admission/admission.js';
import type { Submission } from '../../pipeline/admission/admit-group.js';
import type { ParsedConsent } from '../../pipeline/admission/parse-consents.js';
import type { AdmissionResult } from '../../pipeline/admission/results.js';
import type { ConsentsRequest } from '../../pipeline/admission/submission.js';
import type { GroupObserver } from '../../pipeline/admission/submit.js';
import type { SpanPlace, Tracing } from '../../platform/telemetry/tracing.js';

/**
 * Codes with which admission refuses consents. The series of a code that is missing here starts with its first refusal.
 */
const REJECTIONS: readonly ErrorCode[] = [
  'NONCE_REPLAYED',
  'MALFORMED_JSON',
  'VALIDATION_ERROR',
  ...CONSENT_ERROR_CODES,
  'INTERNAL_ERROR',
];
const GROUP_BUCKETS = [1, 2, 5, 10, 25, 50, 100, 250];
const DURATION_BUCKETS = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1, 5];

export interface AdmissionMetrics {
  /** Wraps admission, to count the outcome of each consent. */
  countConsents(admission: Admission): Admission;
  /** Counts a request that was refused before admission saw it. */
  countRefusal(code: ErrorCode): void;
  /** Records a group. @param seconds time from sending the group to the database's response, in seconds */
  observeGroup(requests: number, consents: number, seconds: number): void;
}

/** Creates the metrics of admission: consents by outcome, and the groups of a commit. */
export function createAdmissionMetrics(registry: Registry): AdmissionMetrics {
  const registers = [registry];
  const admitted = new Counter({
    name: 'consent_ledger_consents_admitted_total',
    help: 'Consents that were accepted: new ones, and duplicates of earlier ones.',
    labelNames: ['outcome'] as const,
    registers,
  });
  const rejected = new Counter({
    name: 'consent_ledger_consents_rejected_total',
    help: 'Consents refused, by code. A request that is refused whole counts once.',
    labelNames: ['code'] as const,
    registers,
  });
  const accepted = admitted.labels({ outcome: 'accepted' });
  const duplicate = admitted.labels({ outcome: 'duplicate' });
  for (const series of [accepted, duplicate]) series.inc(0);
  // Each series starts at 0: otherwise its first refusal would show no increase, and no alert would
  // fire.
  for (const code of REJECTIONS) rejected.inc({ code }, 0);
  const groupRequests = new Histogram({
    name: 'consent_ledger_admission_group_requests',
    help: 'Requests in one admission group.',
    buckets: GROUP_BUCKETS,
    registers,
  });
  const groupConsents = new Histogram({
    name: 'consent_ledger_admission_group_consents',
    help: 'Consents in one admission group.',
    buckets: [0, ...GROUP_BUCKETS],
    registers,
  });
  const groupSeconds = new Histogram({
    name: 'consent_ledger_admission_group_duration_seconds',
    help: 'Duration of the transaction of an admission group.',
    buckets: DURATION_BUCKETS,
    registers,
  });

  const admit = async (
    admission: Admission,
    request: ConsentsRequest,
    parse: () => readonly ParsedConsent[],
  ): Promise<AdmissionResult> => {
    try {
      const result = await admission.admit(request, parse);
      for (const consent of result.consents) {
        if (consent.status === 'rejected') rejected.inc({ code: consent.error.code });
        else (consent.duplicate ? duplicate : accepted).inc();
      }
      return result;
    } catch (error) {
      rejected.inc({ code: apiErrorOf(error)?.code ?? 'INTERNAL_ERROR' });
      throw error;
    }
  };
  return {
    countConsents: (admission) => ({ ...admission, admit: (request, parse) => admit(admission, request, parse) }),
    countRefusal: (code) => rejected.inc({ code }),
    observeGroup: (requests, consents, seconds) => {
      groupRequests.observe(requests);
      groupConsents.observe(consents);
      groupSeconds.observe(seconds);
    },
  };
}

/**
 * Measures admission's groups. The span of a group starts a new trace with links to the traces of
 * its requests, because it has no single parent.
 */
export function createGroupObserver(
  { observeGroup }: Pick<AdmissionMetrics, 'observeGroup'>,
  tracing: Tracing,
): GroupObserver {
  const places = new WeakMap<Submission, SpanPlace>();
  return {
    joins: (submission) => {
      const place = tracing.current();
      if (place !== null) places.set(submission, place);
    },
    around: async (submissions, send) => {
      const requests = submissions.length;
      const consents = submissions.reduce((sum, submission) => sum + submission.consents.length, 0);
      const worksFor = submissions.flatMap((submission) => places.get(submission) ?? []);
      const facts = { 'consent_ledger.requests': requests, 'consent_ledger.consents': consents };
      const startedAt = performance.now();
      try {
        return await tracing.span('admit group', facts, send, { worksFor });
      } finally {
        observeGroup(requests, consents, (performance.now() - startedAt) / 1000);
      }
    },
  };
}
