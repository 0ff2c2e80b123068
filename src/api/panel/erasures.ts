import * as z from 'zod';
import { CreateErasureRequest, ErasureReceiptResponse } from '../../../schemas/api/erasures.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { PageQuery, SiteParams } from '../../../schemas/api/panel/common.js';
import {
  AnnouncementsPage,
  ErasureParams,
  ErasuresPage,
  ListErasuresQuery,
} from '../../../schemas/api/panel/erasures.js';
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
} from '../../erasure/index.js';
import type { Queryable } from '../../platform/database/pool.js';
import { retentionOf } from '../../tenancy/sites/change-site.js';
import { PROTECTORS } from './caller.js';
import { route } from './deps.js';
import { keyOfCursor, pageOfRows } from './page.js';

const shared = { auth: 'panel', tag: 'Erasures', params: SiteParams } as const;
const one = { ...shared, params: ErasureParams, errors: ['RESOURCE_NOT_FOUND'] } as const;

/** The worker carries out the erasures that are requested here. Their state is read from its tables. */
export const ERASURE_OPERATIONS = [
  route({
    ...shared,
    id: 'listErasures',
    path: '/api/v1/sites/{site_id}/erasures',
    summary: 'List the erasures of a site, newest first, including those by its retention period',
    roles: PROTECTORS,
    query: ListErasuresQuery,
    response: ErasuresPage,
    handle: async ({ params: { site_id: siteId }, query }, { apiPool }) => {
      const [, before = null] = keyOfCursor(ErasureCursor, query) ?? [];
      const isFinished = query.state === undefined ? null : query.state === 'finished';
      const filter = { isFinished, reason: query.reason ?? null };
      const rows = await listOfSite(apiPool, siteId, filter, before, query.limit + 1);
      return {
        ...pageOfRows(query, rows, ({ id }) => ['erasures', id], shownErasure),
        retention: await shownRetention(apiPool, siteId),
      };
    },
  }),
  route({
    ...shared,
    id: 'createErasure',
    method: 'post',
    path: '/api/v1/sites/{site_id}/erasures',
    summary: 'Erase the personal data of a person or of one record, permanently',
    description:
      'The service carries the erasure out within moments: read the receipt until its `state` is `finished`. An unknown person or record is no error; its receipt counts 0 records. The same `idempotency_key` with the same subject is the same erasure.',
    roles: PROTECTORS,
    body: CreateErasureRequest,
    example: { body: { subject: { by: 'visitor_id', value: 'visitor-1' } } },
    status: 202,
    response: ErasureReceiptResponse,
    action: 'erasure.create',
    change: async ({ user, params, body }, db, { apiPool, keyring, config }) => {
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
        response: { data: await shownReceipt(apiPool, erasure, config.backupRetentionDays ?? null) },
        ...auditOf(recorded, order),
      };
    },
  }),
  route({
    ...one,
    id: 'readErasure',
    path: '/api/v1/sites/{site_id}/erasures/{erasure_id}',
    summary: 'Get the receipt of an erasure: what was erased, and until when backups can contain the values',
    roles: PROTECTORS,
    response: ErasureReceiptResponse,
    handle: async ({ params }, { apiPool, config }) => ({
      data: await shownReceipt(apiPool, await existing(apiPool, params), config.backupRetentionDays ?? null),
    }),
  }),
  route({
    ...one,
    id: 'listErasureAnnouncements',
    path: '/api/v1/sites/{site_id}/erasures/{erasure_id}/announcements',
    summary: 'List the SubjectErased events of an erasure, and whether each is sealed and stamped',
    roles: PROTECTORS,
    query: PageQuery,
    response: AnnouncementsPage,
    handle: async ({ params, query }, { apiPool }) => {
      const erasure = await existing(apiPool, params);
      const [, after = null] = keyOfCursor(AnnouncementCursor, query) ?? [];
      const rows = await listAnnouncements(apiPool, erasure, after, query.limit + 1);
      return pageOfRows(query, rows, ({ eventId }) => ['announcements', eventId], shownAnnouncement);
    },
  }),
];

const ErasureCursor = z.tuple([z.literal('erasures'), z.uuid()]);
const AnnouncementCursor = z.tuple([z.literal('announcements'), z.uuid()]);

/** @throws ApiError RESOURCE_NOT_FOUND */
async function existing(db: Queryable, params: { site_id: string; erasure_id: string }): Promise<Erasure> {
  const erasure = await readOfSite(db, params.site_id, params.erasure_id);
  if (erasure === null) throw new ApiError('RESOURCE_NOT_FOUND');
  return erasure;
}

const DAY_MS = 86_400_000;
const NowRows = z.tuple([z.object({ now: z.date() })]);

async function shownRetention(db: Queryable, siteId: string) {
  const { retention_days: days } = await retentionOf(db, siteId);
  const [{ now }] = NowRows.parse((await db.query('select now()')).rows);
  const before = days === null ? null : new Date(now.getTime() - days * DAY_MS);
  return { retention_days: days, erases_before: before?.toISOString() ?? null };
}
