import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { DOCUMENT_KINDS, DocumentVersionPublishedRecord } from '../../../schemas/events/notices.js';
import { Uuid } from '../../../schemas/evidence/primitives.js';
import type { Queryable } from '../../platform/database/pool.js';
import { accepted, ChangeRefused } from '../../platform/errors.js';
import { changeSite, type LockedSite } from '../sites/change-site.js';
import { changeDocumentSites, refuseTakenSlug } from './document-sites.js';

const NewDocument = z.object({
  siteId: Uuid,
  slug: DocumentVersionPublishedRecord.shape.slug,
  kind: z.enum(DOCUMENT_KINDS),
  requiresApprovalToken: z.boolean(),
});
type NewDocument = z.infer<typeof NewDocument>;

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

export const DocumentChange = NewDocument.omit({ siteId: true }).partial();
export type DocumentChange = z.infer<typeof DocumentChange>;

const DocumentRows = z.array(
  z.object({
    slug: z.string(),
    kind: NewDocument.shape.kind,
    requires_approval_token: z.boolean(),
    published: z.int(),
    in_use: z.int(),
  }),
);

/**
 * Changes a document. The log records slug, kind and the need for an approval token with each
 * published version, and these records must remain true. Slug and kind can change only before the
 * first publication, and the need for a token only while no version is published or active.
 * @param siteId home site of the document
 * @returns the names of the members whose values changed
 * @throws ChangeRefused `invalid`, `not_found`, `already_exists` (the slug, at a site that uses the
 *   document), `wrong_state` (also: the document is attached to the site)
 */
export function changeDocument(
  db: Queryable,
  siteId: string,
  documentId: string,
  change: DocumentChange,
): Promise<readonly string[]> {
  const checked = accepted(DocumentChange, change);
  return changeDocumentSites(db, siteId, documentId, async ({ home, attached }) => {
    const before = await documentOf(home, documentId);
    const slug = checked.slug ?? before.slug;
    const kind = checked.kind ?? before.kind;
    const requiresApprovalToken = checked.requiresApprovalToken ?? before.requires_approval_token;
    const changed = [
      ...(slug === before.slug ? [] : ['slug']),
      ...(kind === before.kind ? [] : ['kind']),
      ...(requiresApprovalToken === before.requires_approval_token ? [] : ['requires_approval_token']),
    ];
    if (before.published > 0 && (changed.includes('slug') || changed.includes('kind'))) {
      throw new ChangeRefused(
        'wrong_state',
        'This document has published versions, so its slug and kind cannot change. Create another document instead.',
      );
    }
    if (before.in_use > 0 && changed.includes('requires_approval_token')) {
      throw new ChangeRefused(
        'wrong_state',
        'This document has versions in use, so the approval token requirement cannot change. Retire them first, or create another document.',
      );
    }
    for (const site of [home, ...attached]) await refuseTakenSlug(site, slug, documentId);
    await home.db.query('update documents set slug = $2, kind = $3, requires_approval_token = $4 where id = $1', [
      documentId,
      slug,
      kind,
      requiresApprovalToken,
    ]);
    return changed;
  });
}

async function documentOf({ db: client, siteId }: LockedSite, documentId: string) {
  const { rows } = await client.query(
    `select d.slug, d.kind, d.requires_approval_token,
            (select count(*) from document_versions v where v.document_id = d.id and v.state <> 'draft') as published,
            (select count(*) from document_versions v where v.document_id = d.id and v.state in ('published', 'active')) as in_use
       from documents d where d.site_id = $1 and d.id = $2`,
    [siteId, documentId],
  );
  const [row] = DocumentRows.parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `The site has no document ${documentId}.`);
  return row;
}
