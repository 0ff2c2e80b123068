import * as z from 'zod';
import type { RecordedScan } from '../../../../schemas/api/panel/scans.js';
import { parseRecord } from '../../../../schemas/events/sealed-event.js';
import { SITE_SCANNED } from '../../../../schemas/events/site-scanned.js';
import { Uuid } from '../../../../schemas/evidence/primitives.js';
import {
  joinPublication,
  PUBLICATION_COLUMNS,
  PublicationRow,
  publicationOf,
} from '../../../evidence/records/publication.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { keyOfCursor, type Page, type PageRequest, pageOfRows } from '../page.js';

const Rows = z.array(PublicationRow.extend({ record: z.string() }));

/** Ids of events ascend in time. */
const Cursor = z.tuple([Uuid]);

/** A page of a site's recorded scans, newest first. @throws ApiError VALIDATION_ERROR */
export async function recordedScans(db: Queryable, siteId: string, page: PageRequest): Promise<Page<RecordedScan>> {
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
