import * as z from 'zod';
import { VERSION_STATES } from '../../../schemas/api/panel/documents.js';
import { DocumentVersionPublishedRecord } from '../../../schemas/events/notices.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import { ChangeRefused } from '../../platform/errors.js';
import type { LockedSite } from '../sites/change-site.js';

export type VersionState = (typeof VERSION_STATES)[number];

const VersionRow = z.object({
  id: z.string(),
  document_id: z.string(),
  slug: z.string(),
  kind: DocumentVersionPublishedRecord.shape.kind,
  requires_approval_token: z.boolean(),
  language: z.string(),
  /** Null for a draft. */
  number: z.int().nullable(),
  title: z.string(),
  media_type: z.string(),
  content_sha256: z.string(),
  state: z.enum(VERSION_STATES),
});
export type VersionRow = z.infer<typeof VersionRow>;

const VERSION_SQL = `
select v.id, v.document_id, d.slug, d.kind, d.requires_approval_token, v.language, v.number, v.title, v.media_type, v.content_sha256, v.state
  from document_versions v join documents d on d.id = v.document_id
 where v.site_id = $1`;

/**
 * Finds versions of the site, by language and number.
 * @param condition SQL on `v`, a row of `document_versions`, with parameters from $2 on
 */
export async function findVersions(
  site: LockedSite,
  condition: string,
  values: readonly string[],
): Promise<readonly VersionRow[]> {
  const { rows } = await site.db.query(`${VERSION_SQL} and ${condition} order by v.language, v.number`, [
    site.siteId,
    ...values,
  ]);
  return z.array(VersionRow).parse(rows);
}

/** Finds the first version of `findVersions`. @returns null if there is none */
export async function findVersion(
  site: LockedSite,
  condition: string,
  values: readonly string[],
): Promise<VersionRow | null> {
  return (await findVersions(site, condition, values))[0] ?? null;
}

/** Reads a version of the site. @throws ChangeRefused `not_found` */
export async function versionOf(site: LockedSite, versionId: string): Promise<VersionRow> {
  const version = await findVersion(site, 'v.id = $2', [versionId]);
  if (version === null) throw new ChangeRefused('not_found', `The site has no document version ${versionId}.`);
  return version;
}

/** Finds the active version of a document in a language at the site. @returns null if there is none */
export function activeVersionOf(site: LockedSite, documentId: string, language: string): Promise<VersionRow | null> {
  return findVersion(site, "v.document_id = $2 and v.language = $3 and v.state = 'active'", [documentId, language]);
}

/** Result of `publishVersion`, `activateVersion` or `retireVersion`. */
interface VersionChange {
  readonly changed?: boolean;
  /** Version that was retired in exchange, or null if there is none. */
  readonly retired?: string | null;
  /** Sites to which the document is attached and where the same change was made. */
  readonly attachedSiteIds: readonly string[];
}

/** Returns the details of the change's audit-log entry, besides those of the version. */
export function versionChangeDetails({ changed, retired, attachedSiteIds }: VersionChange): JsonObject {
  return {
    ...(changed !== undefined && { changed }),
    ...(retired !== undefined && { retired_version_id: retired }),
    attached_site_ids: [...attachedSiteIds],
  };
}
