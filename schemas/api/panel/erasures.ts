import * as z from 'zod';
import { ERASURE_REASONS } from '../../events/subject-erased.js';
import { InputUuid } from '../common.js';
import { Erasure, ErasureAnnouncement } from '../erasures.js';
import { PageQuery, pageOf, Timestamp } from './common.js';

export const ListErasuresQuery = PageQuery.extend({
  state: Erasure.shape.state.optional().describe('Only erasures in this state.'),
  reason: z.enum(ERASURE_REASONS).optional().describe('Only erasures for this reason.'),
});

/** The erasures of a site, the newest first, and the automatic erasures of its retention period. */
export const ErasuresPage = pageOf(Erasure)
  .extend({
    retention: z
      .object({
        retention_days: z.int().nullable().describe('If null, records are kept until they are erased on request.'),
        erases_before: Timestamp.nullable().describe('The next hourly run erases records that are older than this.'),
      })
      .describe('When records are erased without a request.'),
  })
  .meta({ id: 'ErasuresPage' });

export const ErasureParams = z.object({
  site_id: InputUuid.describe('The site.'),
  erasure_id: InputUuid.describe('The erasure.'),
});

/** The erasures in the order in which they were made. */
export const AnnouncementsPage = pageOf(ErasureAnnouncement);
