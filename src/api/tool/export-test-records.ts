import type { ExportQuery } from '../../../schemas/api/export.js';
import { testConsentToken } from '../../../schemas/events/consent-recorded.js';
import { exported } from '../../evidence/records/read-records.js';
import { revisionOfCursor, versionsOf } from '../../evidence/records/selection.js';
import {
  erasedTestRecords,
  exportedTestErasure,
  type TestRecord,
  type TestRecordOptions,
  testRecords,
  valuesOf,
} from '../../evidence/records/test-records.js';
import type { Queryable } from '../../platform/database/pool.js';
import { blindIndex } from '../../platform/keys/index.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import type { FairScheduler } from '../guards/fair-scheduler.js';
import { inOrder, type Line, lineOf, lineOfErasure } from './export-lines.js';
import { testTurnsOf } from './serve-tool.js';

export interface TestExportOptions extends TestRecordOptions {
  /** Schedules the pages by tenant. */
  readonly turns: FairScheduler;
}

/**
 * Yields the test records of a site, in the form in which an export with a live key has records. It ends with the last
 * one that was stored when it began.
 * @throws RequestRefused VALIDATION_ERROR
 */
export async function* exportedTestRecords(
  options: TestExportOptions,
  site: SiteContext,
  query: ExportQuery,
  gone: AbortSignal,
): AsyncGenerator<Line, void> {
  const after = query.cursor === undefined ? -1 : revisionOfCursor(query.cursor);
  const consents = consentLines(options, site, query, after, gone);
  if (query.include_erasures === true) yield* inOrder(consents, erasureLines(options.db, site.siteId, after));
  else yield* consents;
}

async function* consentLines(
  options: TestExportOptions,
  site: SiteContext,
  query: ExportQuery,
  after: number,
  gone: AbortSignal,
): AsyncGenerator<Line, void> {
  const pages = consentPages(options, site, query, after);
  for await (const lines of options.turns.pages(testTurnsOf(site), pages, gone)) yield* lines;
}

async function* consentPages(
  options: TestRecordOptions,
  site: SiteContext,
  query: ExportQuery,
  after: number,
): AsyncGenerator<readonly Line[], void> {
  const begun = new Date().toISOString();
  const versions = await versionsOf(options.db, site.siteId, query);
  const { visitor_id: visitorId, consent_type: type, from, to } = query;
  const visitor = visitorId === undefined ? null : blindIndex(site.siteKey, 'visitor', visitorId);
  const isWanted = ({ record, isProved }: TestRecord): boolean => {
    const at = Date.parse(record.created_at);
    return (
      isProved &&
      record.created_at <= begun &&
      (type === undefined || record.consent_type === type) &&
      (versions === null || versions.includes(record.document_version_id)) &&
      (from === undefined || at >= Date.parse(from)) &&
      (to === undefined || at < Date.parse(to))
    );
  };
  for await (const page of testRecords(options, site.siteId, { order: 'asc', after, visitor })) {
    yield page.filter(isWanted).map((found) => {
      const values = valuesOf(site, found);
      const place = { revision: found.number, documentSlug: found.documentSlug };
      const content = exported(place, found.record, found.proofHash, values && { values, attachments: [] });
      return lineOf({ ...content, consent_token: testConsentToken(found.record.event_id) }, found.number, query);
    });
    // Records that are stored meanwhile would make the export endless.
    if (page.some(({ record }) => record.created_at > begun)) return;
  }
}

const PAGE = 500;

async function* erasureLines(db: Queryable, siteId: string, after: number): AsyncGenerator<Line, void> {
  for (let last = after; ; ) {
    const page = await erasedTestRecords(db, siteId, last, PAGE);
    for (const erasure of page) yield lineOfErasure(exportedTestErasure(erasure), erasure.number);
    last = page.at(-1)?.number ?? last;
    if (page.length < PAGE) return;
  }
}
