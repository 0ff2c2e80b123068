import { expect, it } from 'vitest';
import type { ScanVisit } from '../../../schemas/api/scans.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import { SiteScannedRecord } from '../../../schemas/events/site-scanned.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import { parseStrictJson } from '../../../schemas/json/strict-json.js';
import { MAX_RECORD_BYTES, scanRecord } from '../../../src/tenancy/scans/record-scan.js';
import { scanResult } from './scan-result.js';

const head = {
  v: 1,
  event_id: '0199f3a1-7c2e-7d64-8a51-3f0e9b6c2d11',
  site_id: '6f1d2c3b-4a59-4876-9b0a-1c2d3e4f5a6b',
  created_at: '2026-03-01T10:00:21.000Z',
} as const;
const result = scanResult(head.site_id);
const [first] = result.visits;
const [cookie] = first?.cookies ?? [];
if (first === undefined || cookie === undefined) throw new Error('the scan has no cookie');

const visitOfShop: ScanVisit = first;

/** The record of a scan with this first visit, as it can be read again. */
function recordOf(visit: Partial<ScanVisit>, change: Parameters<typeof scanResult>[1] = {}): SiteScannedRecord {
  const visits = [{ ...visitOfShop, ...visit, choice: 'none' as const }];
  const record = scanRecord(head, { ...result, visits, ...change });
  const text = canonicalJson(SiteScannedRecord.parse(record));
  expect(utf8(text).length).toBeLessThanOrEqual(MAX_RECORD_BYTES);
  expect(parseStrictJson(text)).toEqual(record);
  return record;
}

it('keeps names, hosts and findings', () => {
  const record = scanRecord(head, result);
  expect(record.visits.map(({ choice, cookies }) => [choice, cookies.items.map(({ name }) => name)])).toEqual([
    ['none', ['tracker', '_visits']],
    ['refused', ['tracker']],
  ]);
  expect(record.visits[0]?.third_party_hosts).toEqual({ items: ['cdn.example'], left_out: 0 });
  expect(record.findings).toEqual({ items: result.findings, left_out: 0 });
});

it('says that the page was opened with the signal, and nothing of a signal that it did not send', () => {
  expect(scanRecord(head, { ...result, signal: true }).signal).toBe(true);
  expect(scanRecord(head, result)).not.toHaveProperty('signal');
  expect(SiteScannedRecord.safeParse({ ...scanRecord(head, result), signal: false }).success).toBe(false);
});

it('leaves queries, fragments, path parameters and user names of addresses out', () => {
  const secret = 'https://shop.example/a;jsessionid=4711/b@c?mail=ann@person.example#token';
  const record = recordOf({ final_url: secret }, { url: secret });
  expect(record.url).toBe('https://shop.example/a/b%40c');
  expect(record.visits[0]?.final_url).toBe(record.url);
  expect(JSON.stringify(record)).not.toMatch(/4711|person|token/);
});

it('states how many items its lists leave out', () => {
  const cookies = Array.from({ length: 150 }, (_, n) => ({ ...cookie, name: `c${n}` }));
  const { items, left_out } = recordOf({ cookies }).visits[0]?.cookies ?? { items: [], left_out: -1 };
  expect([items.length, left_out]).toEqual([100, 50]);
});

it('is bounded in bytes, whatever a page sets', () => {
  const long = '\u{1f36a}'.repeat(100);
  const names = Array.from({ length: 300 }, (_, n) => `${n}${long}`.slice(0, 200));
  const storage = names.map((name) => ({ kind: 'local_storage', name, category: null }) as const);
  const findings = names.map(
    (name) => ({ problem: 'undeclared', kind: 'indexed_db', name, domain: null, category: null }) as const,
  );
  const record = recordOf({ storage, third_party_hosts: names }, { findings });
  expect(record.findings.items.length).toBeGreaterThan(0);
  expect(record.findings.items.length + record.findings.left_out).toBe(300);
});

it('replaces what canonical JSON cannot hold, and bounds numbers', () => {
  const record = recordOf({ cookies: [{ ...cookie, name: 'a\ud800b\u0000', duration_seconds: 999_999_999_999 }] });
  expect(record.visits[0]?.cookies.items[0]).toMatchObject({ name: 'a\ufffdb\ufffd', duration_seconds: 1_000_000_000 });
});

it('names a cookie once that was set for several paths, and ends no scan before it started', () => {
  const cookies = [cookie, { ...cookie, path: '/account/ann' }];
  const record = recordOf({ cookies }, { ended_at: '2026-03-01T09:59:59.000Z' });
  expect(record.visits[0]?.cookies.items).toHaveLength(1);
  expect(record.ended_at).toBe(record.started_at);
});
