import type { Submission } from '../../pipeline/admission/admit-group.js';
import type { GroupObserver } from '../../pipeline/admission/submit.js';
import type { SpanPlace, Tracing } from '../../platform/telemetry/tracing.js';
import type { AdmissionMetrics } from './admission-metrics.js';

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
