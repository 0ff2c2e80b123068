import * as z from 'zod';
import { ApiError } from '../../../../schemas/api/error-codes.js';
import {
  auditOf,
  type Erasure,
  type ErasureOrder,
  listAnnouncements,
  listErasures as listOfSite,
  readErasure as readOfSite,
  recordErasureRequest,
  shownAnnouncement,
  shownErasure,
  shownReceipt,
  subjectOf,
} from '../../../erasure/index.js';
import { retentionOf } from '../../../tenancy/sites/change-site.js';
import type { PanelRoutesOptions } from '../deps.js';
import { keyOfCursor, pageOfRows } from '../page.js';
import { changes, type PanelRoute, reads } from '../route.js';
import { createErasure, listErasureAnnouncements, listErasures, readErasure } from './operations.js';

/** The worker carries out what is asked for here; what it did is read from its tables. */
export function erasureRoutes({ apiPool, keyring, config }: PanelRoutesOptions): readonly PanelRoute[] {
  const backupRetentionDays = config.backupRetentionDays ?? null;
  const existing = async (params: { site_id: string; erasure_id: string }): Promise<Erasure> => {
    const erasure = await readOfSite(apiPool, params.site_id, params.erasure_id);
    if (erasure === null) throw new ApiError('RESOURCE_NOT_FOUND');
    return erasure;
  };
  return [
    reads(listErasures, async ({ params: { site_id: siteId }, query }) => {
      const [, before = null] = keyOfCursor(ErasureCursor, query) ?? [];
      const isFinished = query.state === undefined ? null : query.state === 'finished';
      const filter = { isFinished, reason: query.reason ?? null };
      const rows = await listOfSite(apiPool, siteId, filter, before, query.limit + 1);
      return {
        ...pageOfRows(query, rows, ({ id }) => ['erasures', id], shownErasure),
        retention: await shownRetention(apiPool, siteId),
      };
    }),
    changes(createErasure, async ({ user, params, body }, db) => {
      const order: ErasureOrder = {
        siteId: params.site_id,
        by: subjectOf(body),
        channel: user.id === null ? 'operator' : 'panel',
        idempotencyKey: body.idempotency_key,
      };
      const recorded = await recordErasureRequest(db, keyring, order);
      const erasure = await readOfSite(db, params.site_id, recorded.request.id);
      if (erasure === null) throw new Error(`the erasure ${recorded.request.id} was recorded, and is missing`);
      return {
        response: { data: await shownReceipt(apiPool, erasure, backupRetentionDays) },
        ...auditOf(recorded, order),
      };
    }),
    reads(readErasure, async ({ params }) => ({
      data: await shownReceipt(apiPool, await existing(params), backupRetentionDays),
    })),
    reads(listErasureAnnouncements, async ({ params, query }) => {
      const erasure = await existing(params);
      const [, after = null] = keyOfCursor(AnnouncementCursor, query) ?? [];
      const rows = await listAnnouncements(apiPool, erasure, after, query.limit + 1);
      return pageOfRows(query, rows, ({ eventId }) => ['announcements', eventId], shownAnnouncement);
    }),
  ];
}

const ErasureCursor = z.tuple([z.literal('erasures'), z.uuid()]);
const AnnouncementCursor = z.tuple([z.literal('announcements'), z.uuid()]);

const DAY_MS = 86_400_000;
const NowRows = z.tuple([z.object({ now: z.date() })]);

async function shownRetention(pool: PanelRoutesOptions['apiPool'], siteId: string) {
  const { retention_days: days } = await retentionOf(pool, siteId);
  const [{ now }] = NowRows.parse((await pool.query('select now()')).rows);
  const before = days === null ? null : new Date(now.getTime() - days * DAY_MS);
  return { retention_days: days, erases_before: before?.toISOString() ?? null };
}
