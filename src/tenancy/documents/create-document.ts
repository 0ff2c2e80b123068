import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { DOCUMENT_KINDS, DocumentVersionPublishedRecord } from '../../../schemas/events/notices.js';
import { Uuid } from '../../../schemas/evidence/primitives.js';
import type { Queryable } from '../../platform/database/pool.js';
import { accepted } from '../../platform/errors.js';
import { changeSite } from '../sites/change-site.js';
import { refuseTakenSlug } from './document-sites.js';

export const NewDocument = z.object({
  siteId: Uuid,
  slug: DocumentVersionPublishedRecord.shape.slug,
  kind: z.enum(DOCUMENT_KINDS),
  requiresApprovalToken: z.boolean(),
});
export type NewDocument = z.infer<typeof NewDocument>;

/**
 * Creates a document of a home site, without versions.
 * @throws ChangeRefused `invalid`, `not_found` (the site), `already_exists` (the slug)
 */
export async function createDocument(db: Queryable, document: NewDocument): Promise<{ readonly id: string }> {
  const { siteId, slug, kind, requiresApprovalToken } = accepted(NewDocument, document);
  const id = randomUUID();
  return changeSite(db, siteId, async (site) => {
    await refuseTakenSlug(site, slug, null);
    await site.db.query(
      'insert into documents (id, site_id, slug, kind, requires_approval_token) values ($1, $2, $3, $4, $5)',
      [id, siteId, slug, kind, requiresApprovalToken],
    );
    return { id };
  });
}
