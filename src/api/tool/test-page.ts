import type { FastifyRequest } from 'fastify';
import type { ConfigResponse } from '../../../schemas/api/config.js';
import type { SiteContext } from '../../tenancy/directory/site-context.js';
import { hostOf, type LiveHosts } from '../../tenancy/domains/live-hosts.js';

type Configuration = ConfigResponse['data'];

/**
 * Takes the place of every optional category. No choice that the browser keeps has an answer for it, so that none
 * counts, and what the visitor chooses now permits nothing else. Every version of the SDK obeys this.
 */
const NOTHING_OPTIONAL: Configuration['categories'][number] = {
  key: 'svc_test',
  required: false,
  title: 'Test',
  purpose: 'This page has a test key. Nothing optional is permitted here, whatever is chosen.',
  lawful_basis: 'consent',
  personal_data: [],
  recipients: [],
  retention_days: null,
  cookies: [],
};

/**
 * The configuration for a page with a test key. Its banner says "Test".
 * @param isLive whether visitors may use the page: then nothing optional can be permitted on it, because a site that
 *   forgot a test key would collect no consent
 */
export function configurationForTests(data: Configuration, isLive: boolean): Configuration {
  const { banner, labels, documents } = data;
  const policy = documents.find(({ kind }) => kind === 'cookie_policy');
  const title = `Test: ${banner.title ?? policy?.version.title ?? ''}`;
  const settings = labels.settings && { ...labels.settings, text: `Test: ${labels.settings.text}` };
  const marked = { ...data, banner: { ...banner, title }, labels: { ...labels, ...(settings && { settings }) } };
  if (!isLive) return marked;
  const { iab: _, ...withoutSignals } = marked;
  return { ...withoutSignals, categories: [...data.categories.filter(({ required }) => required), NOTHING_OPTIONAL] };
}

/** The page of a request. */
export interface RequestingPage {
  /** Whether visitors may use it. One of a browser that hides its host counts as such. */
  readonly isLive: boolean;
  /** Null: not known. */
  readonly host: string | null;
}

/** @throws database errors */
export async function pageOf(
  liveHosts: LiveHosts,
  site: SiteContext,
  request: FastifyRequest,
): Promise<RequestingPage> {
  const { origin, referer, 'sec-fetch-site': fetchSite } = request.headers;
  const host = hostOf(origin ?? referer ?? '');
  const isLive = host === null ? (origin ?? fetchSite) !== undefined : await liveHosts.isLive(site, host);
  return { isLive, host };
}
