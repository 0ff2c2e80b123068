import type { DocumentSummary } from '../../../schemas/api/common.js';
import { chooseLanguage } from '../../../schemas/language/choose-language.js';
import type { ActiveVersion, SiteContext } from './site-context.js';

/**
 * The documents of a site that have an active version, each with the version in the best available
 * language.
 * @param wanted language tags, the preferred one first
 */
export function activeDocuments(site: SiteContext, wanted: readonly string[]): readonly DocumentSummary[] {
  const bySlug = new Map<string, ActiveVersion[]>();
  for (const version of site.activeVersions.values()) {
    const versions = bySlug.get(version.slug);
    if (versions === undefined) bySlug.set(version.slug, [version]);
    else versions.push(version);
  }
  return [...bySlug.values()].map((versions) => summary(best(versions, wanted, site)));
}

/**
 * One document of a site, with the active version in the best available language.
 * @param wanted language tags, the preferred one first
 * @returns null if the site has no such document, or the document has no active version
 */
export function activeDocument(site: SiteContext, slug: string, wanted: readonly string[]): DocumentSummary | null {
  const versions = [...site.activeVersions.values()].filter((version) => version.slug === slug);
  return versions.length === 0 ? null : summary(best(versions, wanted, site));
}

function best(versions: readonly ActiveVersion[], wanted: readonly string[], site: SiteContext): ActiveVersion {
  const standard = site.config?.record.default_language ?? 'en';
  const language = chooseLanguage(
    versions.map((version) => version.language),
    wanted,
    standard,
  );
  const version = versions.find((one) => one.language === language);
  if (version === undefined) throw new RangeError('the language chosen is not one of those given');
  return version;
}

function summary(version: ActiveVersion): DocumentSummary {
  return {
    id: version.documentId,
    slug: version.slug,
    kind: version.kind,
    requires_approval_token: version.requiresApprovalToken,
    language: version.language,
    version: {
      id: version.id,
      number: version.number,
      language: version.language,
      title: version.title,
      media_type: version.mediaType,
      content_sha256: version.contentSha256,
    },
  };
}
