/** Mappings of tools. Each lacks what only the operator knows: at least the document version. */
export const PRESETS = {
  cookiebot: {
    tool: 'Cookiebot',
    format: 'csv',
    record_id: { column: 'Key' },
    claimed_at: { column: 'Date', format: 'iso_utc' },
    consent_type: { value: 'cookie' },
    decision: 'from_categories',
    categories: {
      preferences: { column: 'Preferences', values: { true: true, false: false } },
      statistics: { column: 'Statistics', values: { true: true, false: false } },
      marketing: { column: 'Marketing', values: { true: true, false: false } },
    },
    person: { visitor_id: { column: 'Key' }, ip_address: { column: 'IP' }, user_agent: { column: 'User agent' } },
    metadata: { url: { column: 'URL' } },
  },
  onetrust: {
    tool: 'OneTrust',
    format: 'jsonl',
    record_id: { column: 'receiptId' },
    claimed_at: { column: 'interactionDate', format: 'iso_utc' },
    consent_type: { value: 'cookie' },
    decision: 'from_categories',
    person: { visitor_id: { column: 'identifier' } },
  },
  c15t: {
    tool: 'c15t',
    format: 'jsonl',
    record_id: { column: 'id' },
    claimed_at: { column: 'givenAt', format: 'iso_utc' },
    valid_until: { column: 'validUntil', format: 'iso_utc' },
    consent_type: { value: 'cookie' },
    decision: 'from_categories',
    person: {
      visitor_id: { column: 'subjectId' },
      ip_address: { column: 'ipAddress' },
      user_agent: { column: 'userAgent' },
    },
    metadata: { jurisdiction: { column: 'jurisdiction' }, ui_source: { column: 'uiSource' } },
  },
} as const satisfies Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export type PresetName = keyof typeof PRESETS;
