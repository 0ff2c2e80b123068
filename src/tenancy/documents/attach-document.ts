import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { changeSites, type LockedSite } from '../sites/change-site.js';
import { attachedSitesOf, lockHomeDocument, refuseTakenSlug } from './document-sites.js';
import { findVersions } from './document-version.js';
import { activate, publishAttached, retire } from './version-states.js';

/** Maximum number of sites that a document is attached to. Each of its versions is published at all of them. */
export const MAX_ATTACHED_SITES = 50;

/**
 * Attaches a document to a further site of the tenant. The versions in use are published there, and those that are
 * active are activated, so that the site's own stream has all that consents refer to. If the document is already
 * attached, nothing changes.
 * @param siteId home site of the document
 * @returns whether the document was attached by this call
 * @throws ChangeRefused `not_found` (the document, or the site in this tenant), `already_exists` (the
 *   site has a document with this slug), `wrong_state` (the home site itself, too many sites, or the
 *   document is attached to `siteId`)
 */
export function attachDocument(
  db: Queryable,
  siteId: string,
  documentId: string,
  attachedSiteId: string,
): Promise<{ readonly changed: boolean }> {
  return changeAttachment(db, siteId, documentId, attachedSiteId, async ({ home, site, slug, isAttached, count }) => {
    if (isAttached) return { changed: false };
    if (count >= MAX_ATTACHED_SITES) {
      throw new ChangeRefused(
        'wrong_state',
        `The document is attached to ${MAX_ATTACHED_SITES} sites, which is the limit. Detach it from one of them.`,
      );
    }
    await refuseTakenSlug(site, slug, documentId);
    await site.db.query(
      'insert into document_attachments (id, document_id, site_id, attached_at) values ($1, $2, $3, $4)',
      [randomUUID(), documentId, attachedSiteId, site.now],
    );
    // The versions are published in the order of their numbers, because the numbers of a site only grow.
    const versions = await findVersions(home, "v.document_id = $2 and v.state in ('published', 'active')", [
      documentId,
    ]);
    for (const version of versions) {
      const attached = await publishAttached(site, version);
      if (version.state === 'active') await activate(site, attached);
    }
    return { changed: true };
  });
}

/**
 * Detaches a document from a site, and retires its versions there. Earlier consents remain as they are.
 * @param siteId home site of the document
 * @throws ChangeRefused `not_found` (the document, or it is not attached to the site), `wrong_state`
 *   (the home site itself, or the document is attached to `siteId`)
 */
export function detachDocument(
  db: Queryable,
  siteId: string,
  documentId: string,
  attachedSiteId: string,
): Promise<void> {
  return changeAttachment(db, siteId, documentId, attachedSiteId, async ({ site, isAttached }) => {
    if (!isAttached) {
      throw new ChangeRefused('not_found', `The document is not attached to site ${attachedSiteId}.`);
    }
    const versions = await findVersions(site, "v.document_id = $2 and v.state in ('published', 'active')", [
      documentId,
    ]);
    for (const version of versions) await retire(site, version);
    await site.db.query(
      'update document_attachments set detached_at = $3 where document_id = $1 and site_id = $2 and detached_at is null',
      [documentId, attachedSiteId, site.now],
    );
  });
}

interface Attachment {
  readonly home: LockedSite;
  /** The site that the document is attached to or detached from. */
  readonly site: LockedSite;
  readonly slug: string;
  readonly isAttached: boolean;
  /** Number of sites that the document is attached to. */
  readonly count: number;
}

function changeAttachment<T>(
  db: Queryable,
  siteId: string,
  documentId: string,
  attachedSiteId: string,
  change: (attachment: Attachment) => Promise<T>,
): Promise<T> {
  return withTransaction(db, async (db) => {
    const { slug } = await lockHomeDocument(db, siteId, documentId);
    if (attachedSiteId === siteId) {
      throw new ChangeRefused('wrong_state', 'This site is the home site of the document. Name another site.');
    }
    await refuseOtherTenant(db, siteId, attachedSiteId);
    const attached = await attachedSitesOf(db, documentId);
    return changeSites(db, [siteId, attachedSiteId], (siteOf) =>
      change({
        home: siteOf(siteId),
        site: siteOf(attachedSiteId),
        slug,
        isAttached: attached.includes(attachedSiteId),
        count: attached.length,
      }),
    );
  });
}

const Found = z.array(z.object({ id: z.string() }));

/** Refuses a site of another tenant in the same way as one that does not exist. */
async function refuseOtherTenant(db: Queryable, siteId: string, otherSiteId: string): Promise<void> {
  const { rows } = await db.query(
    'select s.id from sites s join sites h on h.tenant_id = s.tenant_id where h.id = $1 and s.id = $2',
    [siteId, otherSiteId],
  );
  if (Found.parse(rows).length === 0) throw new ChangeRefused('not_found', `There is no site ${otherSiteId}.`);
}
