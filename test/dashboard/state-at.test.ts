import { expect, test } from 'vitest';
import type { ConsentSummary } from '../../dashboard/src/api/types.js';
import { alteredAmong, givenAt, listedAt, oldestFirst, stateAt } from '../../dashboard/src/pages/consents/state-at.js';

const PUBLIC = {
  hash_version: 2,
  site_id: '',
  categories: null,
  services: null,
  ask_again_at: null,
  scope: 'device',
  rule_id: null,
  channel: 'browser',
  language: 'en',
  compliance_framework: null,
  document_version_id: '',
  document_hash: '',
  site_config_hash: '',
  proof_key_id: '',
  api_key_id: '',
  identity_assurance: null,
  approval_token_id: null,
} as const;

const recordOf = (
  day: string,
  decision: 'accepted' | 'withdrawn',
  {
    type = 'cookie',
    slug = 'cookie-policy',
    until = null,
  }: { type?: string; slug?: string; until?: string | null } = {},
): ConsentSummary => ({
  id: `${day} ${type} ${slug}`,
  consent_token: '',
  proof_hash: '',
  document_slug: slug,
  is_intact: true,
  is_anonymized: false,
  is_expired: false,
  state: 'stamped',
  is_development: false,
  record: {
    ...PUBLIC,
    vouched: [],
    consent_type: type,
    decision,
    created_at: `${day}T10:00:00Z`,
    valid_until: until,
  },
});

const HISTORY = [
  recordOf('2026-01-20', 'withdrawn'),
  recordOf('2026-01-10', 'accepted'),
  recordOf('2026-01-15', 'accepted', { type: 'newsletter', slug: 'news', until: '2026-01-18T00:00:00Z' }),
  recordOf('2026-01-25', 'accepted'),
];
const at = (time: string) =>
  stateAt(HISTORY, Date.parse(time)).map(({ id, state }) => `${id.split(' ').slice(0, 2).join(' ')}: ${state}`);

test('the state of a person at a time is the newest decision of each kind until then', () => {
  expect(at('2026-01-10T09:59:59Z')).toEqual([]);
  expect(at('2026-01-10T10:00:00Z')).toEqual(['2026-01-10 cookie: in_force']);
  expect(new Set(at('2026-01-17T00:00:00Z'))).toEqual(
    new Set(['2026-01-10 cookie: in_force', '2026-01-15 newsletter: in_force']),
  );
  expect(new Set(at('2026-01-21T00:00:00Z'))).toEqual(
    new Set(['2026-01-20 cookie: withdrawn', '2026-01-15 newsletter: expired']),
  );
  expect(at('2026-02-01T00:00:00Z')).toContain('2026-01-25 cookie: in_force');
});

test('the second that the page shows for a decision, and for an end, is the one in which it counts', () => {
  const given = recordOf('2026-01-10', 'accepted', { until: '2026-01-12T10:00:00.400Z' });
  const { record } = given;
  const items = [{ ...given, record: record && { ...record, created_at: '2026-01-10T10:00:00.900Z' } }];
  const stateThen = (time: string) => stateAt(items, Date.parse(time)).map(({ state }) => state);
  expect(stateThen('2026-01-10T09:59:59Z')).toEqual([]);
  expect(stateThen('2026-01-10T10:00:00Z')).toEqual(['in_force']);
  expect(stateThen('2026-01-12T09:59:59.999Z')).toEqual(['in_force']);
  expect(stateThen('2026-01-12T10:00:00Z')).toEqual(['expired']);
});

/** Every import is of the same later day. */
const imported = (day: string, decision: 'accepted' | 'withdrawn'): ConsentSummary => {
  const { record, ...summary } = recordOf('2026-01-30', decision);
  const origin = { tool: 'Tool', file_sha256: '', row: 1, mapping_sha256: '', imported_by: 'operator' as const };
  const stated = { ...origin, claimed_at: `${day}T10:00:00Z` };
  return { ...summary, id: `${day} import`, record: record && { ...record, channel: 'import', import: stated } };
};

test('the history has imported consents first, in the order of their claimed times, and states these', () => {
  const [first, second, here] = [
    imported('2026-01-02', 'accepted'),
    imported('2026-01-22', 'withdrawn'),
    recordOf('2026-01-10', 'accepted'),
  ];
  const altered = { ...recordOf('2026-01-12', 'accepted'), record: null };
  // A file of the former tool may list its newest consents first.
  expect(oldestFirst([first, second, altered, here])).toEqual([first, second, here, altered]);
  expect([second, here].map(({ record }) => record && givenAt(record).slice(0, 10))).toEqual([
    '2026-01-22',
    '2026-01-10',
  ]);
});

test('an altered record gives no state, and is counted', () => {
  const withdrawal = { ...recordOf('2026-01-28', 'withdrawn'), record: null, is_intact: false };
  expect(alteredAmong([withdrawal, ...HISTORY])).toBe(1);
  expect(stateAt([withdrawal, ...HISTORY], Date.now())).toEqual(stateAt(HISTORY, Date.now()));
});

test('an imported consent counts from its claimed time, and never before one that was recorded here', () => {
  const history = [imported('2026-01-22', 'withdrawn'), imported('2026-01-02', 'accepted'), ...HISTORY];
  const cookies = (time: string) =>
    stateAt(history, Date.parse(time)).flatMap(({ id, record }) => (record.consent_type === 'cookie' ? [id] : []));
  expect(cookies('2026-01-02T09:00:00Z')).toEqual([]);
  expect(cookies('2026-01-05T00:00:00Z')).toEqual(['2026-01-02 import']);
  expect(cookies('2026-01-12T00:00:00Z')).toEqual(['2026-01-10 cookie cookie-policy']);
  expect(cookies('2026-01-23T00:00:00Z')).toEqual(['2026-01-20 cookie cookie-policy']);
  expect(stateAt(history.slice(0, 2), Date.now()).map(({ id }) => id)).toEqual(['2026-01-22 import']);
});

test('an imported consent has its time of recording in the list of a site, and its claimed time in the history', () => {
  const { record } = imported('2024-04-01', 'accepted');
  expect(record && [listedAt(record, false), listedAt(record, true)]).toEqual([
    '2026-01-30T10:00:00Z',
    '2024-04-01T10:00:00Z',
  ]);
});
