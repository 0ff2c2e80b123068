import { CONSENT_IMPORTED, originOf } from '../schemas/events/consent-imported.js';
import { CONSENT_RECORDED } from '../schemas/events/consent-recorded.js';
import { SUBJECT_ERASED } from '../schemas/events/subject-erased.js';
import type { ConsentContent } from '../schemas/evidence/consent-body.js';
import { answersQuestion } from '../schemas/law/acts.js';
import type { Handler, Mutation, Projection } from './definition.js';
import { LEDGER_EVENTS, NOTICE_EVENTS } from './event-types.js';

const counted: Handler = ({ consent }) => {
  if (consent === null) throw new Error('the event is not a consent');
  const { site_id, created_at, consent_type, decision } = consent.record;
  const origin = originOf(consent.record);
  const key = { site_id, day: (origin?.claimed_at ?? created_at).slice(0, 10), consent_type, decision };
  const by = origin === null ? { consents: 1, imported: 0 } : { consents: 0, imported: 1 };
  const ofDay: Mutation = { kind: 'add', table: 'daily_counts', key, by };
  return origin === null ? [ofDay, ...monthly(consent.record)] : [ofDay];
};

/** What a consent counts for in its month: once by each property, and for each category that it decides on. */
function monthly(record: ConsentContent['record']): readonly Mutation[] {
  const { decision } = record;
  const properties = [['type', record.consent_type, decision]];
  // Opt-outs and objections answer no question: they are counted by their type alone.
  if (answersQuestion(record.consent_type)) {
    properties.push(
      ['channel', record.channel, decision],
      ['language', record.language, decision],
      ['framework', record.compliance_framework ?? 'unknown', decision],
      ['version', record.site_config_hash, decision],
    );
    // A withdrawal is no answer to a banner.
    const answers = decision === 'withdrawn' ? {} : (record.categories ?? {});
    for (const [category, isAccepted] of Object.entries(answers))
      properties.push(['category', category, isAccepted ? 'accepted' : 'rejected']);
  }
  const site = { site_id: record.site_id, month: `${record.created_at.slice(0, 7)}-01` };
  return properties.map(([property = '', value = '', outcome = '']) => ({
    kind: 'add',
    table: 'monthly_counts',
    key: { ...site, property, value, decision: outcome },
    by: { consents: 1 },
  }));
}

/**
 * Consents per day (UTC), by site, type and decision. Imported ones are counted apart, on the day that
 * the former tool states. Consents per month, by decision and one property at a time: two properties together would
 * single out persons. An erasure changes no count, because the records remain.
 */
export const dailyCounts: Projection = {
  name: 'daily_counts',
  version: 4,
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
    monthly_counts: {
      columns: {
        site_id: { type: 'uuid', nullable: false },
        month: { type: 'date', nullable: false },
        property: { type: 'text', nullable: false },
        value: { type: 'text', nullable: false },
        decision: { type: 'text', nullable: false },
        consents: { type: 'bigint', nullable: false },
      },
      primaryKey: ['site_id', 'month', 'property', 'value', 'decision'],
      indexes: [],
    },
  },
  on: {
    [CONSENT_RECORDED]: counted,
    [CONSENT_IMPORTED]: counted,
  },
  ignores: [SUBJECT_ERASED, ...NOTICE_EVENTS, ...LEDGER_EVENTS],
};
