import * as z from 'zod';
import type { ScanResult, ScanVisit } from '../../../schemas/api/scans.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import {
  MAX_SCANNED_ITEMS,
  MAX_SCANNED_NAME,
  MAX_SCANNED_SECONDS,
  SITE_SCANNED,
  SiteScannedRecord,
} from '../../../schemas/events/site-scanned.js';
import { canonicalJson } from '../../../schemas/json/canonical-json.js';
import type { Queryable } from '../../platform/database/pool.js';
import { RequestRefused } from '../../platform/errors.js';
import { changeSite, noticeHead, putNotice } from '../sites/change-site.js';

/**
 * Scans of a site that may be recorded in 24 hours, because every evidence package of the site encloses all of them
 * forever.
 */
export const MAX_RECORDED_SCANS = 20;
const DAY_SECONDS = 24 * 60 * 60;

/**
 * Records the result of a scan as a notice of its site.
 * @param domain verified domain of the site when the page was scanned
 * @returns id of the event
 * @throws RequestRefused SCAN_RECORDS_EXCEEDED; SCAN_URL_REFUSED if the site has another domain now, or
 *   is no longer verified
 */
export function recordScan(db: Queryable, scan: ScanResult, domain: string): Promise<string> {
  return changeSite(db, scan.site_id, async (site) => {
    if (!site.isVerified || site.domain !== domain)
      throw new RequestRefused(
        'SCAN_URL_REFUSED',
        `The site is no longer verified for ${domain}. Verify its domain, then scan the page again.`,
      );
    // The lock on the site makes the count exact.
    await refuseExcessRecords(site.db, scan.site_id);
    const head = noticeHead(site);
    const text = await putNotice(site, SITE_SCANNED, SiteScannedRecord, scanRecord(head, scan));
    await site.db.query('insert into site_scans (event_id, site_id, record, recorded_at) values ($1, $2, $3, $4)', [
      head.event_id,
      scan.site_id,
      text,
      site.now,
    ]);
    return head.event_id;
  });
}

const OldestRows = z.array(z.object({ wait_seconds: z.number() }));

/**
 * Refuses to record another scan of a site if it has `MAX_RECORDED_SCANS` from the last 24 hours.
 * @throws RequestRefused SCAN_RECORDS_EXCEEDED
 */
export async function refuseExcessRecords(db: Queryable, siteId: string): Promise<void> {
  const { rows } = await db.query(
    `select extract(epoch from recorded_at - now())::float8 + $2 as wait_seconds from site_scans
      where site_id = $1 and recorded_at > now() - $2 * interval '1 second'
      order by recorded_at desc offset $3 limit 1`,
    [siteId, DAY_SECONDS, MAX_RECORDED_SCANS - 1],
  );
  const [oldest] = OldestRows.parse(rows);
  if (oldest === undefined) return;
  throw new RequestRefused('SCAN_RECORDS_EXCEEDED', undefined, {
    retryAfterSeconds: Math.max(1, Math.ceil(oldest.wait_seconds)),
  });
}

/** Largest record, in bytes of its canonical text: every package of the site encloses it. */
export const MAX_RECORD_BYTES = 65_536;
/** Longest name of a host (RFC 1035 §2.3.4). */
const MAX_HOST = 253;

type Head = Pick<SiteScannedRecord, 'v' | 'event_id' | 'site_id' | 'created_at'>;
type List<T> = { items: T[]; left_out: number };

/**
 * Creates the record of a scan: names and hosts, without values, queries and paths of cookies. Its lists are truncated
 * until the record has at most `MAX_RECORD_BYTES`, and state how many items they omit.
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
  const { url, method, signal, started_at, ended_at, site_config_hash, visits, findings } = scan;
  return {
    ...head,
    url: addressOf(url),
    method,
    ...(signal && { signal }),
    started_at,
    // The clock of a machine can be set back, so the times may be out of order.
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

/** The first items, without duplicates. */
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
