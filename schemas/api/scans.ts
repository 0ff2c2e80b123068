import * as z from 'zod';
import { SCAN_CHOICES, SCAN_METHODS, SCAN_PROBLEMS, STORAGE_KINDS } from '../events/site-scanned.js';
import { Instant, Sha256Hex, Uuid } from '../evidence/primitives.js';

/** Body of POST /tool/v1/scans. */
export const ScanRequest = z
  .strictObject({
    url: z
      .string()
      .min(1)
      .max(2000)
      .describe('Address of the page, on a verified domain of the tenant or a subdomain of it.'),
    record: z
      .boolean()
      .default(false)
      .describe(
        'If true, the result is recorded in the event log of the site, sealed and stamped like a published text: evidence of the state of the site.',
      ),
    signal: z
      .boolean()
      .default(false)
      .describe(
        'If true, the page is opened with Global Privacy Control, the signal of a browser that asks to opt out.',
      ),
  })
  .meta({ id: 'ScanRequest' });
export type ScanRequest = z.infer<typeof ScanRequest>;

const Category = z
  .string()
  .nullable()
  .describe('Key of its category in the published configuration, or null if it is not declared there.');

/** A cookie after a visit, without its value. */
const ScannedCookie = z
  .object({
    name: z.string().describe('Name of the cookie, at most 200 characters.'),
    domain: z.string().describe('Domain to which browsers send it.'),
    path: z.string().describe('Path below which browsers send it.'),
    party: z.enum(['first', 'third']).describe("`first`: of the site's domain, `third`: of another one."),
    duration_seconds: z.int().nullable().describe('Seconds that it is kept, or null for until the browser is closed.'),
    http_only: z.boolean().describe('Whether scripts cannot read it.'),
    secure: z.boolean().describe('Whether it is sent by HTTPS only.'),
    category: Category,
  })
  .meta({ id: 'ScannedCookie' });

/** A name in the storage of a browser. */
const ScannedStorage = z
  .object({
    kind: z.enum(STORAGE_KINDS).describe('Where the page stored it.'),
    name: z.string().describe('Key of the entry, or name of the database, at most 200 characters.'),
    category: Category,
  })
  .meta({ id: 'ScannedStorage' });

/** One visit of a scan. */
export const ScanVisit = z
  .object({
    choice: z
      .enum(SCAN_CHOICES)
      .describe('`none`: before any choice. `refused`: the visitor has refused every optional category.'),
    final_url: z.string().describe('Address of the page after redirects.'),
    status: z.int().describe('HTTP status of the page.'),
    is_complete: z.boolean().describe('False: the page did not finish loading in time, or a limit left something out.'),
    cookies: z.array(ScannedCookie).describe('Cookies after the visit, at most 300.'),
    storage: z.array(ScannedStorage).describe('Names that the page stored. Always empty without a browser.'),
    third_party_hosts: z
      .array(z.string())
      .describe('Hosts outside the domain that the page requested; without a browser, that its HTML names.'),
  })
  .meta({ id: 'ScanVisit' });
export type ScanVisit = z.infer<typeof ScanVisit>;

/** Something that a page should not have set. */
export const ScanFinding = z
  .object({
    problem: z
      .enum(SCAN_PROBLEMS)
      .describe(
        '`undeclared`: the published configuration does not declare it. `before_choice`, `after_refusal`: declared in an optional category, but set although the visitor had not permitted it.',
      ),
    kind: z.enum(['cookie', ...STORAGE_KINDS]).describe('Kind of the name.'),
    name: z.string().describe('Its name.'),
    domain: z.string().nullable().describe('Domain of a cookie, or null for other kinds.'),
    category: Category,
  })
  .meta({ id: 'ScanFinding' });
export type ScanFinding = z.infer<typeof ScanFinding>;

export const ScanResult = z
  .object({
    id: Uuid.describe('Id of the scan.'),
    event_id: Uuid.nullable().describe('Id of the event that records the scan, or null if no record was requested.'),
    site_id: Uuid.describe('Site whose configuration the page was compared with.'),
    url: z.string().describe('Address that was scanned.'),
    method: z
      .enum(SCAN_METHODS)
      .describe('`browser`: scripts ran. `http`: only the page was requested, so that much can be missing.'),
    signal: z.boolean().describe('Whether the page was opened with Global Privacy Control.'),
    started_at: Instant.describe('Time at which the scan began.'),
    ended_at: Instant.describe('Time at which it ended.'),
    site_config_hash: Sha256Hex.nullable().describe(
      'SHA-256 of the published configuration that the page was compared with, or null if none is published.',
    ),
    visits: z.array(ScanVisit).describe('The visits. A site without a cookie policy has only the first.'),
    findings: z.array(ScanFinding).describe('Names that are not declared, or that were set without permission.'),
  })
  .meta({ id: 'ScanResult' });
export type ScanResult = z.infer<typeof ScanResult>;

export const ScanResponse = z.object({ data: ScanResult }).meta({ id: 'ScanResponse' });
