import { type Api, allPages, answerOf, dataOf } from '../../api/client.js';
import type { ConfigurationDraft, Site } from '../../api/types.js';
import { type Found, POLICY_SLUG, readExisting } from './existing.js';
import { performPlan, type Step } from './plan.js';
import type { Policy } from './policy-text.js';

interface SiteFacts {
  readonly name: string;
  readonly domain: string;
  readonly allowed_origins: string[];
}

/**
 * Returns the site of a domain, which is added if the organisation has none: the answer to an earlier press may have
 * been lost.
 * @throws ApiFailure
 */
export async function siteOf(api: Api, facts: SiteFacts): Promise<Site> {
  const sites = await allPages((cursor) =>
    answerOf(api.GET('/api/v1/sites', { params: { query: { limit: 100, cursor } } })),
  );
  const known = sites.find(({ domain }) => domain === facts.domain);
  return known ?? dataOf(api.POST('/api/v1/sites', { body: facts }));
}

export interface Publication {
  readonly siteId: string;
  /** Null if the site already has a text in force. */
  readonly policy: Policy | null;
  /** Revision of the draft that the user saw: the service refuses to change another one. */
  readonly revision: number;
  /** Returns the draft with what was chosen, from the newest one of the service. */
  readonly filled: (draft: ConfigurationDraft) => ConfigurationDraft;
}

/**
 * Makes and publishes what a site lacks.
 * @throws StepFailure
 */
export function publishAll(api: Api, publication: Publication): Promise<void> {
  const { siteId, policy } = publication;
  const perform = callsOf(api, publication);
  return performPlan({
    read: () => readExisting(api, siteId, policy),
    perform: (step, existing) => perform[step](existing),
  });
}

/** Longest name of a key, in characters. */
const MOST_KEY_NAME = 100;

const NEVER = () => Promise.reject(new Error('this step has no call here'));

function callsOf(
  api: Api,
  { siteId, policy, revision: seen, filled }: Publication,
): Readonly<Record<Step, (existing: Found) => Promise<unknown>>> {
  const path = { site_id: siteId };
  const versions = '/api/v1/sites/{site_id}/documents/{document_id}/versions';
  const versionPath = ({ document, found }: Found) => ({
    path: { ...path, document_id: document?.id ?? '', version_id: found?.id ?? '' },
  });
  /** Only the draft that the user saw is published. */
  let revision = seen;
  return {
    'add-site': NEVER,
    'prove-domain': NEVER,
    'add-document': () =>
      dataOf(
        api.POST('/api/v1/sites/{site_id}/documents', {
          params: { path },
          body: { slug: POLICY_SLUG, kind: 'cookie_policy', requires_approval_token: false },
        }),
      ),
    'write-version': ({ document }) => {
      if (policy === null) return NEVER();
      const params = { path: { ...path, document_id: document?.id ?? '' } };
      return dataOf(api.POST(versions, { params, body: { ...policy, media_type: 'text/markdown' } }));
    },
    'publish-version': (existing) =>
      answerOf(
        api.POST(`${versions}/{version_id}/publish`, {
          params: versionPath(existing),
          body: { content_sha256: existing.found?.content_sha256 },
        }),
      ),
    'activate-version': (existing) =>
      answerOf(api.POST(`${versions}/{version_id}/activate`, { params: versionPath(existing) })),
    'fill-draft': async () => {
      const draft = await dataOf(api.GET('/api/v1/sites/{site_id}/configuration', { params: { path } }));
      const { changed_at, problems, has_changes, in_force, cookies, ...content } = filled(draft);
      const body = { ...content, revision: seen, cookies: cookies.map(({ id, ...cookie }) => cookie) };
      const stored = await dataOf(api.PUT('/api/v1/sites/{site_id}/configuration', { params: { path }, body }));
      revision = stored.revision;
    },
    'publish-configuration': () =>
      dataOf(api.POST('/api/v1/sites/{site_id}/configuration/publish', { params: { path }, body: { revision } })),
    'make-key': ({ site }) =>
      dataOf(
        api.POST('/api/v1/sites/{site_id}/api-keys', {
          params: { path },
          body: { name: site.domain.slice(0, MOST_KEY_NAME), scope: 'write', restriction: 'publishable', mode: 'live' },
        }),
      ),
  };
}
