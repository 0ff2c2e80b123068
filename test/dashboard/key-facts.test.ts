import { expect, it } from 'vitest';
import type { ApiKey } from '../../dashboard/src/api/types.js';
import { keyForPages, keyStateOf } from '../../dashboard/src/pages/keys/key-facts.js';

const NOW = Date.parse('2026-06-01T00:00:00Z');
const KEY: ApiKey = {
  id: 'a',
  name: '',
  prefix: 'svc_live_aaaaaa',
  publishable_key: 'svc_live_a',
  scope: 'write',
  restriction: 'publishable',
  mode: 'live',
  created_at: '2026-01-01T00:00:00Z',
  last_used_at: '2026-05-31T00:00:00Z',
  live_host: null,
  expires_at: null,
  replaced_by: null,
  revoked_at: null,
};

it.each<[string, Partial<ApiKey>]>([
  ['active', {}],
  ['unused', { last_used_at: null }],
  ['idle', { last_used_at: '2026-03-01T00:00:00Z' }],
  ['replaced', { expires_at: '2026-06-02T00:00:00Z', last_used_at: null }],
  ['expired', { expires_at: '2026-06-01T00:00:00Z' }],
  ['revoked', { expires_at: '2026-06-02T00:00:00Z', revoked_at: '2026-05-01T00:00:00Z' }],
])('says that a key is %s', (state, members) => {
  expect(keyStateOf({ ...KEY, ...members }, NOW)).toBe(state);
});

it('puts the newest live key that records in the code for pages, unless one was just made', () => {
  const keys: readonly ApiKey[] = [
    KEY,
    { ...KEY, id: 'b', publishable_key: 'svc_live_b' },
    { ...KEY, id: 'c', publishable_key: 'svc_live_c', replaced_by: 'b' },
    { ...KEY, id: 'd', publishable_key: 'svc_live_d', scope: 'read' },
    { ...KEY, id: 'e', publishable_key: 'svc_test_e', mode: 'test' },
    { ...KEY, id: 'f', publishable_key: null, restriction: 'secret' },
  ];
  expect(keyForPages(keys, null)).toBe('svc_live_b');
  expect(keyForPages(keys, 'e')).toBe('svc_test_e');
  expect(keyForPages(keys, 'f')).toBe('svc_live_b');
  expect(keyForPages(keys.slice(4), null)).toBeNull();
});
