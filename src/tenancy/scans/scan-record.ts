import type { ScanResult, ScanVisit } from '../../../schemas/api/scans.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import {
  MAX_SCANNED_ITEMS,
  MAX_SCANNED_NAME,
  MAX_SCANNED_SECONDS,
  type SiteScannedRecord,
} from '../../../schemas/events/site-scanned.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';

/** Largest record, in bytes of its canonical text: every package of the site encloses it. */
export const MAX_RECORD_BYTES = 65_536;
/** Longest name of a host (RFC 1035 §2.3.4). */
const MAX_HOST = 253;

type Head = Pick<SiteScannedRecord, 'v' | 'event_id' | 'site_id' | 'created_at'>;
type List<T> = { items: T[]; left_out: number };

/**
 * Makes the record of a scan: names and hosts, without values, queries and paths of cookies. Its lists
 * are cut until the record has at most `MAX_RECORD_BYTES`, and state how many items they leave out.
 */
export function scanRecord(head: Head, scan: ScanResult): SiteScannedRecord {
  let items = MAX_SCANNED_ITEMS;
  let record = recordOf(head, scan, items);
  while (items > 0 && utf8(canonicalJson(record)).length > MAX_RECORD_BYTES) {
    items = Math.floor(items / 2);
    record = recordOf(head, scan, items);
  }
  return record;
}

function recordOf(head: Head, scan: ScanResult, items: number): SiteScannedRecord {
  const { url, method, started_at, ended_at, site_config_hash, visits, findings } = scan;
  return {
    ...head,
    url: addressOf(url),
    method,
    started_at,
    // The clock of a machine can be set back.
    ended_at: ended_at < started_at ? started_at : ended_at,
    site_config_hash,
    visits: visits.map((visit) => visitOf(visit, items)),
    findings: cut(
      findings.map((finding) => ({
        ...finding,
        name: plain(finding.name),
        domain: finding.domain === null ? null : host(finding.domain),
      })),
      items,
    ),
  };
}

function visitOf(visit: ScanVisit, items: number): SiteScannedRecord['visits'][number] {
  const { choice, final_url, status, is_complete, cookies, storage, third_party_hosts: hosts } = visit;
  return {
    choice,
    final_url: addressOf(final_url),
    status,
    is_complete,
    cookies: cut(
      cookies.map(({ name, domain, party, duration_seconds: seconds, http_only, secure, category }) => ({
        name: plain(name),
        domain: host(domain),
        party,
        duration_seconds: seconds === null ? null : Math.min(seconds, MAX_SCANNED_SECONDS),
        http_only,
        secure,
        category,
      })),
      items,
    ),
    storage: cut(
      storage.map(({ kind, name, category }) => ({ kind, name: plain(name), category })),
      items,
    ),
    third_party_hosts: cut(hosts.map(host), items),
  };
}

/** The first items, each once. */
function cut<T>(all: readonly T[], items: number): List<T> {
  const distinct = [...new Map(all.map((item) => [JSON.stringify(item), item])).values()];
  return { items: distinct.slice(0, items), left_out: Math.max(0, distinct.length - items) };
}

/**
 * The address of a page without query, fragment and path parameters: they often hold a session or a
 * person's identifier.
 */
function addressOf(text: string): string {
  const { origin, pathname } = new URL(text);
  return `${origin}${pathname.replaceAll(/;[^/]*/g, '').replaceAll('@', '%40')}`.slice(0, 2000);
}

function plain(name: string): string {
  return wellFormed(name.slice(0, MAX_SCANNED_NAME));
}

function host(name: string): string {
  return wellFormed(name.slice(0, MAX_HOST));
}

/** A text that a page chose, without control characters and lone surrogates, which a record cannot hold. */
function wellFormed(text: string): string {
  return text.toWellFormed().replaceAll(/\p{Cc}/gu, '\ufffd');
}
