import { CONSENT_IMPORTED, originOf } from '../schemas/events/consent-imported.js';
import { CONSENT_RECORDED } from '../schemas/events/consent-recorded.js';
import { SUBJECT_ERASED } from '../schemas/events/subject-erased.js';
import type { Handler, Projection } from './definition.js';
import { LEDGER_EVENTS, NOTICE_EVENTS } from './event-types.js';

const counted: Handler = ({ consent }) => {
  if (consent === null) throw new Error('the event is not a consent');
  const { site_id, created_at, consent_type, decision } = consent.record;
  const origin = originOf(consent.record);
  const key = { site_id, day: (origin?.claimed_at ?? created_at).slice(0, 10), consent_type, decision };
  const by = origin === null ? { consents: 1, imported: 0 } : { consents: 0, imported: 1 };
  return [{ kind: 'add', table: 'daily_counts', key, by }];
};

/**
 * Consents per day (UTC), by site, type and decision. Imported ones are counted apart, on the day that
 * the former tool states. An erasure changes no count, because the records remain.
 */
export const dailyCounts: Projection = {
  name: 'daily_counts',
  version: 2,
  tables: {
    daily_counts: {
      columns: {
        site_id: { type: 'uuid', nullable: false },
        day: { type: 'date', nullable: false },
        consent_type: { type: 'text', nullable: false },
        decision: { type: 'text', nullable: false },
        consents: { type: 'bigint', nullable: false },
        imported: { type: 'bigint', nullable: false },
      },
      primaryKey: ['site_id', 'day', 'consent_type', 'decision'],
      indexes: [],
    },
  },
  on: {
    [CONSENT_RECORDED]: counted,
    [CONSENT_IMPORTED]: counted,
  },
  ignores: [SUBJECT_ERASED, ...NOTICE_EVENTS, ...LEDGER_EVENTS],
};
