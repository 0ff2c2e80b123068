import type { ScanResult, ScanVisit } from '../../../schemas/api/scans.js';

const cookie = (name: string, category: string | null): ScanVisit['cookies'][number] => ({
  name,
  domain: 'shop.example',
  path: '/',
  party: 'first',
  duration_seconds: 600,
  http_only: false,
  secure: true,
  category,
});

/** The result of a scan of a shop: a cookie that is not declared, and one that is set too early. */
export function scanResult(siteId: string, change: Partial<ScanResult> = {}): ScanResult {
  const visit: Omit<ScanVisit, 'choice'> = {
    final_url: 'https://shop.example/',
    status: 200,
    is_complete: true,
    cookies: [cookie('tracker', null), cookie('_visits', 'analytics')],
    storage: [{ kind: 'local_storage', name: 'cart', category: null }],
    third_party_hosts: ['cdn.example'],
  };
  return {
    id: 'f2c7a6de-51a4-4e6f-9d3c-0c8b5f6f7a10',
    event_id: null,
    site_id: siteId,
    url: 'https://shop.example/',
    method: 'browser',
    signal: false,
    started_at: '2026-03-01T10:00:00.000Z',
    ended_at: '2026-03-01T10:00:20.000Z',
    site_config_hash: null,
    visits: [
      { choice: 'none', ...visit },
      { choice: 'refused', ...visit, cookies: [cookie('tracker', null)] },
    ],
    findings: [
      { problem: 'undeclared', kind: 'cookie', name: 'tracker', domain: 'shop.example', category: null },
      { problem: 'undeclared', kind: 'local_storage', name: 'cart', domain: null, category: null },
      { problem: 'before_choice', kind: 'cookie', name: '_visits', domain: 'shop.example', category: 'analytics' },
    ],
    ...change,
  };
}
