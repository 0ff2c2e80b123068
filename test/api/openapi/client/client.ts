import createClient from 'openapi-fetch';
import type { components as PanelComponents, paths as PanelPaths } from './panel-api.js';
import type { paths as ToolPaths } from './tool-api.js';

/** JSON body of the successful response of an operation. */
type Answer<O> = O extends { responses: infer R }
  ? R[keyof R & (200 | 201 | 202)] extends { content: { 'application/json': infer J } }
    ? J
    : never
  : never;

/** JSON body of the request of an operation. */
type Body<O> = O extends { requestBody?: { content: { 'application/json': infer J } } } ? J : undefined;

export interface Credentials {
  readonly email: string;
  readonly password: string;
}

/** Signs a request: the headers X-API-Key, X-Timestamp, X-Nonce and X-Signature. */
export type Sign = (path: string, body: string) => Record<string, string>;

async function call<T>(url: string, method: string, headers: Record<string, string>, body?: unknown): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
  });
  if (!response.ok) {
    const error: PanelComponents['schemas']['ErrorResponse'] = await response.json();
    throw new Error(`${response.status} ${error.code}: ${error.message}`);
  }
  return response.json();
}

type RecordConsent = ToolPaths['/tool/v1/consents']['post'];

/**
 * Returns the Tool API's answer to a ping, the consent token of a consent that it recorded, and why it refused one item
 * of a batch.
 * @param approvalVersionId a version to which no consent is recorded without an approval token
 */
export async function recordConsent(
  base: string,
  apiKey: string,
  sign: Sign,
  { versionId, approvalVersionId }: { readonly versionId: string; readonly approvalVersionId: string },
) {
  const client = createClient<ToolPaths>({ baseUrl: base, headers: { 'X-API-Key': apiKey } });
  // The signature is a security scheme, so that no operation has it as a parameter.
  client.use({
    async onRequest({ request, schemaPath }) {
      if (request.method !== 'POST') return;
      for (const [name, value] of Object.entries(sign(schemaPath, await request.clone().text())))
        request.headers.set(name, value);
    },
  });
  const { data: ping } = await client.GET('/tool/v1/ping');
  const { data: recorded } = await client.POST('/tool/v1/consents', {
    body: {
      consent_type: 'cookie',
      decision: 'partial',
      categories: { analytics: false },
      document_version_id: versionId,
    },
  });
  const good = { consent_type: 'cookie', decision: 'accepted', document_version_id: versionId } as const;
  const wrong = { ...good, consent_type: 'document_approval', document_version_id: approvalVersionId };
  const { data: batch } = await client.POST('/tool/v1/consents/batch', { body: { consents: [good, wrong] } });
  const item = batch?.data.results.find(({ status }) => status === 'rejected');
  const { error } = await client.POST('/tool/v1/consents', { body: { ...good, visitor_id: 'x'.repeat(101) } });
  const pong: 'pong' | undefined = ping?.message;
  return {
    pong,
    siteId: ping?.data.site_id,
    consentToken: recorded?.data.consent_token,
    item: [item?.index, item?.error_code],
    error: [error?.code, error?.errors?.[0]?.field],
  };
}

type Login = PanelPaths['/api/v1/auth/login']['post'];
type Sites = PanelPaths['/api/v1/sites'];

/** Signs in to the panel, creates a site, and lists the names of all sites. */
export async function createSite(base: string, credentials: Credentials, site: Body<Sites['post']>) {
  const login: Body<Login> = credentials;
  const { data } = await call<Answer<Login>>(`${base}/api/v1/auth/login`, 'POST', {}, login);
  const headers = { authorization: `Bearer ${data.access_token}` };
  const created = await call<Answer<Sites['post']>>(`${base}/api/v1/sites`, 'POST', headers, site);
  const page = await call<Answer<Sites['get']>>(`${base}/api/v1/sites`, 'GET', headers);
  return { id: created.data.id, names: page.data.map(({ name }) => name), nextCursor: page.next_cursor };
}

/** The types are precise: each of these lines would be an error without its comment. */
export function mistakes(): unknown {
  // @ts-expect-error there is no such decision
  const decision: Body<RecordConsent> = { consent_type: 'cookie', decision: 'perhaps' };
  // @ts-expect-error consent_type is missing
  const incomplete: Body<RecordConsent> = { decision: 'accepted' };
  // @ts-expect-error a site has a name and a domain
  const site: Body<Sites['post']> = { domain: 'shop.example' };
  // @ts-expect-error there is no such path
  type Unknown = ToolPaths['/tool/v1/pong'];
  const unknown: Unknown | undefined = undefined;
  return [decision, incomplete, site, unknown];
}
