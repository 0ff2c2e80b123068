import { sha256Hex } from '../../../../schemas/crypto/browser/digest.js';
import { type Api, allPages, answerOf, dataOf } from '../../api/client.js';
import type { ApiKey, Document, DocumentVersion, Site } from '../../api/types.js';
import { isPolicyInForce } from '../documents/policy-in-force.js';
import { keyForPages } from '../keys/key-facts.js';
import type { Existing } from './plan.js';
import type { Policy } from './policy-text.js';

/** Short name of the document that the wizard makes. */
export const POLICY_SLUG = 'cookie-policy';

/** What exists, with the ids that the next calls need. */
export interface Found extends Existing {
  readonly site: Site;
  readonly document: Document | undefined;
  readonly found: DocumentVersion | undefined;
  readonly keys: readonly ApiKey[];
}

/**
 * Reads what a site has.
 * @param policy the text of which a version is looked for; null to look for none
 * @throws ApiFailure
 */
export async function readExisting(api: Api, siteId: string, policy: Policy | null): Promise<Found> {
  const path = { site_id: siteId };
  const [site, documents, keys] = await Promise.all([
    dataOf(api.GET('/api/v1/sites/{site_id}', { params: { path } })),
    allPages((cursor) =>
      answerOf(api.GET('/api/v1/sites/{site_id}/documents', { params: { path, query: { limit: 100, cursor } } })),
    ),
    allPages((cursor) =>
      answerOf(api.GET('/api/v1/sites/{site_id}/api-keys', { params: { path, query: { limit: 100, cursor } } })),
    ),
  ]);
  const document = documents.find((one) => one.slug === POLICY_SLUG && one.home_site_id === siteId);
  const hasTextInForce = documents.some(isPolicyInForce);
  const found =
    hasTextInForce || document === undefined || policy === null
      ? undefined
      : versionOf(policy, await readVersions(api, siteId, document.id));
  return {
    isAdded: true,
    isProved: site.verified_at !== null,
    hasTextInForce,
    hasDocument: document !== undefined,
    version: found === undefined ? null : found.state === 'draft' ? 'draft' : 'published',
    isConfigured: site.configuration !== null,
    hasKey: keyForPages(keys, null) !== null,
    site,
    document,
    found,
    keys,
  };
}

function readVersions(api: Api, siteId: string, documentId: string): Promise<readonly DocumentVersion[]> {
  const path = { site_id: siteId, document_id: documentId };
  return allPages((cursor) =>
    answerOf(
      api.GET('/api/v1/sites/{site_id}/documents/{document_id}/versions', {
        params: { path, query: { limit: 100, cursor } },
      }),
    ),
  );
}

/** The version with exactly these words, the published one first. A retired one cannot be put in force again. */
function versionOf(policy: Policy, versions: readonly DocumentVersion[]): DocumentVersion | undefined {
  const sha256 = sha256Hex(policy.content);
  const same = versions.filter(
    ({ language, title, content_sha256 }) =>
      language === policy.language && title === policy.title && content_sha256 === sha256,
  );
  return same.find(({ state }) => state === 'published') ?? same.find(({ state }) => state === 'draft');
}
