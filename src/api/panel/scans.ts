import * as z from 'zod';
import { PageQuery, pageOf, SiteParams } from '../../../schemas/api/panel/common.js';
import { RecordedScan, ScanSiteRequest } from '../../../schemas/api/panel/scans.js';
import { ScanResponse } from '../../../schemas/api/scans.js';
import { parseRecord } from '../../../schemas/events/sealed-event.js';
import { SITE_SCANNED } from '../../../schemas/events/site-scanned.js';
import { Uuid } from '../../../schemas/evidence/primitives.js';
import {
  joinPublication,
  PUBLICATION_COLUMNS,
  PublicationRow,
  publicationOf,
} from '../../evidence/records/publication.js';
import type { Queryable } from '../../platform/database/pool.js';
import { recordScan, refuseExcessRecords } from '../../tenancy/scans/record-scan.js';
import { takeScan } from '../tool/scans.js';
import { EDITORS, READERS } from './caller.js';
import { route } from './deps.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows } from './page.js';

const shared = { auth: 'panel', tag: 'Scans', params: SiteParams } as const;
const path = '/api/v1/sites/{site_id}/scans';

/**
 * Scans of the site's own pages. The page is visited outside the transaction; the record and its
 * audit entry are written in one.
 */
export const PANEL_SCAN_OPERATIONS = [
  route({
    ...shared,
    id: 'listScans',
    path,
    summary: 'List the recorded scans of a site, newest first',
    description: 'Scans without `record` are not kept.',
    roles: READERS,
    query: PageQuery,
    response: pageOf(RecordedScan),
    handle: ({ params, query }, { apiPool }) => recordedScans(apiPool, params.site_id, query),
  }),
  route({
    ...shared,
    id: 'scanSite',
    method: 'post',
    path,
    summary: 'Scan a page for cookies and storage that are not declared, or set without permission',
    description:
      'The page must be on the verified domain of the site. The service visits it before any choice, and again as a visitor who has refused every optional category (docs/scans.md); with `signal`, both visits send Global Privacy Control. The response comes within a minute. A tenant has six scans a minute, and a site 20 recorded ones in 24 hours.',
    roles: EDITORS,
    body: ScanSiteRequest,
    example: { body: { url: 'https://shop.example/', record: true, signal: false } },
    response: ScanResponse,
    errors: [
      'SCAN_URL_REFUSED',
      'WRONG_STATE',
      'SCAN_FAILED',
      'SCAN_LIMIT_EXCEEDED',
      'SCAN_RECORDS_EXCEEDED',
      'SCANNER_BUSY',
    ],
    action: 'site.scan',
    prepare: async ({ user, params, body }, { apiPool, directory, rateLimiter, scan }) => {
      await takeScan(rateLimiter, user.tenantId);
      if (body.record) await refuseExcessRecords(apiPool, params.site_id);
      const site = await directory.site(params.site_id);
      const request = { url: body.url, record: false, signal: body.signal, isOwnSiteOnly: true };
      const result = await scan(site, request, AbortSignal.timeout(SCAN_MS));
      return async (_call, db) => {
        const eventId = body.record ? await recordScan(db, result, site.domain) : null;
        return {
          response: { data: { ...result, event_id: eventId } },
          subject: { kind: 'site', id: params.site_id },
          details: { findings: result.findings.length, ...(eventId !== null && { event_id: eventId }) },
        };
      };
    },
  }),
];

/** Longest scan, in milliseconds: two visits of 22 s each, with a margin for the work around them. */
const SCAN_MS = 60_000;

const Rows = z.array(PublicationRow.extend({ record: z.string() }));

/** Ids of events ascend in time. */
const Cursor = z.tuple([Uuid]);

/** A page of a site's recorded scans, newest first. @throws ApiError VALIDATION_ERROR */
async function recordedScans(db: Queryable, siteId: string, page: PageRequest): Promise<Page<RecordedScan>> {
  const [before] = keyOfCursor(Cursor, page) ?? [null];
  const { rows } = await db.query(
    `select v.event_id, v.record, ${PUBLICATION_COLUMNS} from site_scans v ${joinPublication('v')}
      where v.site_id = $1 and ($2::uuid is null or v.event_id < $2) order by v.event_id desc limit $3`,
    [siteId, before, page.limit + 1],
  );
  return pageOfRows(page, Rows.parse(rows), ({ event_id: id }) => [id], shown);
}

function shown(row: z.infer<typeof Rows>[number]): RecordedScan {
  const { url, created_at, findings } = parseRecord(SITE_SCANNED, row.record);
  const names = new Set(findings.items.map(({ kind, name, domain }) => JSON.stringify([kind, name, domain])));
  return {
    url,
    recorded_at: created_at,
    findings: names.size + findings.left_out,
    publication: publicationOf(row),
  };
}
