import { CONSENT_RECORDED } from '../schemas/events/consent-recorded.js';
import { SUBJECT_ERASED } from '../schemas/events/subject-erased.js';
import type { Projection } from './definition.js';
import { LEDGER_EVENTS, NOTICE_EVENTS } from './event-types.js';

/**
 * Consents per day (UTC), by site, type and decision. An erasure changes no count, because the
 * records remain.
 */
export const dailyCounts: Projection = {
  name: 'daily_counts',
  version: 1,
  tables: {
    daily_counts: {
      columns: {
        site_id: { type: 'uuid', nullable: false },
        day: { type: 'date', nullable: false },
        consent_type: { type: 'text', nullable: false },
        decision: { type: 'text', nullable: false },
        consents: { type: 'bigint', nullable: false },
      },
      primaryKey: ['site_id', 'day', 'consent_type', 'decision'],
      indexes: [],
    },
  },
  on: {
    [CONSENT_RECORDED]: (event) => {
      if (event.consent === null) throw new Error('the event is not a consent');
      const { site_id, created_at, consent_type, decision } = event.consent.record;
      const key = { site_id, day: created_at.slice(0, 10), consent_type, decision };
      return [{ kind: 'add', table: 'daily_counts', key, by: { consents: 1 } }];
    },
  },
  ignores: [SUBJECT_ERASED, ...NOTICE_EVENTS, ...LEDGER_EVENTS],
};
