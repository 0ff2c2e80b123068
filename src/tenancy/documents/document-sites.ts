import * as z from 'zod';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { changeSites, type LockedSite } from '../sites/change-site.js';
import { type VersionRow, versionOf } from './document-version.js';

/** The sites that use a document, all of them locked. */
export interface DocumentSites {
  readonly home: LockedSite;
  readonly attached: readonly LockedSite[];
}

/**
 * Changes a document at every site that uses it, in one transaction. The lock on the document comes
 * first and keeps the list of its sites as it is.
 * @param siteId home site of the document
 * @throws ChangeRefused `not_found`, `wrong_state` (the document is attached to the site); errors of
 *   `change`
 */
export function changeDocumentSites<T>(
  db: Queryable,
  siteId: string,
  documentId: string,
  change: (sites: DocumentSites) => Promise<T>,
): Promise<T> {
  return withTransaction(db, async (db) => {
    await lockHomeDocument(db, siteId, documentId);
    const attached = await attachedSitesOf(db, documentId);
    return changeSites(db, [siteId, ...attached], (siteOf) =>
      change({ home: siteOf(siteId), attached: attached.map(siteOf) }),
    );
  });
}

const PlaceRows = z.array(z.object({ document_id: z.string(), home_version_id: z.string().nullable() }));

/**
 * Changes a version of a document's home site, with all sites that use the document locked.
 * @throws ChangeRefused `not_found`, `wrong_state` (a version of a site that the document is attached
 *   to); errors of `change`
 */
export function changeVersion<T>(
  db: Queryable,
  siteId: string,
  versionId: string,
  change: (sites: DocumentSites, version: VersionRow) => Promise<T>,
): Promise<T> {
  return withTransaction(db, async (db) => {
    const { rows } = await db.query(
      'select document_id, home_version_id from document_versions where id = $1 and site_id = $2',
      [versionId, siteId],
    );
    const [place] = PlaceRows.parse(rows);
    if (place === undefined) throw new ChangeRefused('not_found', `The site has no document version ${versionId}.`);
    if (place.home_version_id !== null) {
      throw new ChangeRefused(
        'wrong_state',
        `The version belongs to a document that is attached to this site. Change version ${place.home_version_id} of its home site.`,
      );
    }
    return changeDocumentSites(db, siteId, place.document_id, async (sites) =>
      change(sites, await versionOf(sites.home, versionId)),
    );
  });
}

const HomeRows = z.array(z.object({ site_id: z.string(), slug: z.string() }));

/**
 * Locks a document, for a change at its home site.
 * @returns its slug
 * @throws ChangeRefused `not_found`, `wrong_state` (the document is attached to the site)
 */
export async function lockHomeDocument(
  db: Queryable,
  siteId: string,
  documentId: string,
): Promise<{ readonly slug: string }> {
  const { rows } = await db.query(
    `select d.site_id, d.slug from documents d
      where d.id = $1 and (d.site_id = $2 or exists (select from document_attachments a
              where a.document_id = d.id and a.site_id = $2 and a.detached_at is null))
        for no key update of d`,
    [documentId, siteId],
  );
  const [row] = HomeRows.parse(rows);
  if (row === undefined) throw new ChangeRefused('not_found', `The site has no document ${documentId}.`);
  if (row.site_id === siteId) return row;
  throw new ChangeRefused(
    'wrong_state',
    `The document is attached to this site. Change it at its home site ${row.site_id}.`,
  );
}

const SiteIds = z.array(z.object({ site_id: z.string() }));

/**
 * The sites that a document is attached to. A row that names a site of another tenant was not written by the service
 * and is ignored.
 */
export async function attachedSitesOf(db: Queryable, documentId: string): Promise<readonly string[]> {
  const { rows } = await db.query(
    `select a.site_id
       from document_attachments a
       join sites s on s.id = a.site_id
       join documents d on d.id = a.document_id
       join sites h on h.id = d.site_id and h.tenant_id = s.tenant_id
      where a.document_id = $1 and a.detached_at is null`,
    [documentId],
  );
  return SiteIds.parse(rows).map(({ site_id: id }) => id);
}

/**
 * Refuses a slug that another document of the site has, its own or an attached one.
 * @param documentId document that may have the slug, or null if there is none
 * @throws ChangeRefused `already_exists`
 */
export async function refuseTakenSlug(site: LockedSite, slug: string, documentId: string | null): Promise<void> {
  const { rowCount } = await site.db.query(
    `select from documents d
      where d.slug = $2 and d.id is distinct from $3::uuid
        and (d.site_id = $1 or exists (select from document_attachments a
              where a.document_id = d.id and a.site_id = $1 and a.detached_at is null))
      limit 1`,
    [site.siteId, slug, documentId],
  );
  if (rowCount !== 0) {
    throw new ChangeRefused(
      'already_exists',
      `The site ${site.domain} already has a document ${slug}, its own or an attached one. Choose another slug, or detach that document.`,
    );
  }
}
