import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { Config } from '../../platform/config/index.js';
import type { Keyring, SigningKey } from '../../platform/keys/index.js';
import { FOR_MINUTES, publicDocument } from '../server/send-document.js';
import { latestText, StaticText, serveBuilt } from '../server/static-text.js';
import { agentSkills, agentSkillsIndex } from './agent-skills.js';
import {
  API_CATALOG_PROFILE,
  type Api,
  aiCatalog,
  apiCatalog,
  apiLinks,
  llmsText,
  PANEL_API,
  TOOL_API,
} from './api-catalog.js';
import { frontPage } from './front-page.js';
import { jsonText, PLACES, scannerUrl, urlsUnder } from './places.js';

export type DiscoveryOptions = Config['discovery'] &
  Pick<Keyring, 'jwtKeys'> & {
    readonly now: () => Date;
    /** Host name of the public scanner, or undefined if there is none. */
    readonly scannerHost: string | undefined;
    /** Whether everyone can create an organisation. */
    readonly isSignUpOpen: boolean;
  };

const LINKSET = `${PLACES.apiCatalog.mediaType}; profile="${API_CATALOG_PROFILE}"`;
const PLAIN_TEXT = 'text/plain; charset=utf-8';

/**
 * Registers the documents by which agents and tools find the service (docs/discovery.md). They are
 * public for every origin, and contain no secret.
 */
export function discoveryRoutes(scope: FastifyInstance, options: DiscoveryOptions): void {
  const { publicUrl, securityContacts } = options;
  const urlOf = urlsUnder(publicUrl);
  const scanner = scannerUrl(options.scannerHost, publicUrl);
  const skills = agentSkills();
  const catalogs = [
    `<${urlOf(PLACES.apiCatalog.path)}>; rel="api-catalog"; type="${PLACES.apiCatalog.mediaType}"`,
    `<${urlOf(PLACES.aiCatalog.path)}>; rel="ai-catalog"; type="${PLACES.aiCatalog.mediaType}"`,
  ];

  const serve = (path: string, contentType: string, body: string, links?: readonly string[]): void => {
    const document = publicDocument({ contentType, body, cacheControl: FOR_MINUTES, ...(links && { links }) });
    const text = new StaticText(document);
    scope.get(path, (request, reply) => text.send(request, reply));
  };
  const serveApi = (api: Api): void => serve(api.base, LINKSET, jsonText(apiLinks(api, urlOf)), catalogs);

  serve(PLACES.apiCatalog.path, LINKSET, jsonText(apiCatalog(urlOf, scanner)), catalogs);
  serveApi(TOOL_API);
  serveApi(PANEL_API);
  serve(PLACES.aiCatalog.path, PLACES.aiCatalog.mediaType, jsonText(aiCatalog(skills, urlOf, publicUrl)));
  serve(PLACES.agentSkills.path, PLACES.agentSkills.mediaType, jsonText(agentSkillsIndex(skills, urlOf)));
  for (const { path, text } of skills) serve(path, 'text/markdown; charset=utf-8', text);
  serve(PLACES.llmsText.path, PLAIN_TEXT, llmsText(skills, urlOf, scanner), catalogs);
  const front = new StaticText(
    frontPage(skills, { hasSecurityText: securityContacts.length > 0, isSignUpOpen: options.isSignUpOpen }),
  );
  scope.get(PLACES.frontPage.path, (request, reply) => front.send(request, reply));
  serve(PLACES.robotsText.path, PLAIN_TEXT, robotsText());
  // Written by src/api/openapi/write-descriptions.ts.
  const { resolve } = createRequire(import.meta.url);
  const { panelApi, toolApi } = PLACES;
  serveBuilt(scope, panelApi.path, panelApi.mediaType, resolve('#built/openapi/panel-api.yaml'));
  serveBuilt(scope, toolApi.path, `${toolApi.mediaType}; charset=utf-8`, resolve('#built/openapi/tool-api.json'));

  // Written by write-pages.ts.
  pageRoutes(scope, resolve('#built/openapi/pages.json'));

  const latest = (contentType: string) =>
    latestText((body) => publicDocument({ contentType, body, cacheControl: FOR_MINUTES }));
  const keysText = latest(PLACES.jwkSet.mediaType);
  scope.get(PLACES.jwkSet.path, async (request, reply) =>
    keysText(jsonText(jwkSet((await options.jwtKeys()).all))).send(request, reply),
  );
  if (securityContacts.length === 0) return;
  const contactText = latest(PLAIN_TEXT);
  scope.get(PLACES.securityText.path, (request, reply) =>
    contactText(securityText(securityContacts, publicUrl, options.now())).send(request, reply),
  );
  scope.get('/security.txt', (_request, reply) => reply.redirect(PLACES.securityText.path, 301));
}

/**
 * The public keys of JSON Web Tokens: RFC 7517 §5, RFC 8037 §2. Each member is written by name, so that no private
 * member can slip in.
 * @param keys all keys that may still verify a token
 */
export function jwkSet(keys: readonly Pick<SigningKey, 'keyId' | 'publicKeyBytes'>[]): JsonObject {
  return {
    keys: keys.map(({ keyId, publicKeyBytes }) => ({
      kty: 'OKP',
      crv: 'Ed25519',
      x: publicKeyBytes.toString('base64url'),
      kid: keyId,
      use: 'sig',
      alg: 'EdDSA',
    })),
  };
}

/**
 * robots.txt (RFC 9309 §2.2): crawlers may read published documents and the links of the APIs, but
 * not the APIs.
 */
export function robotsText(): string {
  const rules = [TOOL_API, PANEL_API].flatMap(({ base }) => [`Disallow: ${base}`, `Allow: ${base}$`]);
  return `User-agent: *\n${rules.join('\n')}\nAllow: /\n`;
}

const MONTHS_AHEAD = 3;

/**
 * security.txt (RFC 9116 §4, unsigned). It is generated for each request from the current configuration, and `Expires`
 * is always two to three months ahead. It changes once a month, so that caches can keep it.
 * @param contacts URIs, the preferred one first; at least one (§2.5.3)
 * @param publicUrl public URL from the configuration; named as `Canonical` if its scheme is https, which §2.5.2
 * requires
 */
export function securityText(contacts: readonly string[], publicUrl: string | undefined, now: Date): string {
  const fields = contacts.map((uri) => `Contact: ${uri}`);
  fields.push(`Expires: ${new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + MONTHS_AHEAD)).toISOString()}`);
  if (publicUrl?.startsWith('https://')) {
    fields.push(`Canonical: ${urlsUnder(publicUrl)(PLACES.securityText.path)}`);
  }
  return `${fields.join('\n')}\n`;
}

const Bundle = z.record(z.string(), z.string());

/**
 * Serves the documentation below `/docs/`, and all of it as one text.
 * @param file the bundle that write-pages.ts made
 */
export function pageRoutes(scope: FastifyInstance, file: string): void {
  let texts: Promise<ReadonlyMap<string, StaticText>> | undefined;
  const send = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    texts ??= readTexts(file);
    const [path = ''] = request.url.split('?');
    // After a failure, the next request tries to read the file again.
    const found = await texts.catch((error: unknown) => {
      texts = undefined;
      throw error;
    });
    const text = found.get(path);
    if (text === undefined) throw new ApiError('ROUTE_NOT_FOUND');
    return text.send(request, reply);
  };
  scope.get('/docs/*', send);
  scope.get(PLACES.llmsFullText.path, send);
}

async function readTexts(file: string): Promise<ReadonlyMap<string, StaticText>> {
  const bundle = Bundle.parse(JSON.parse(await readFile(file, 'utf8')));
  return new Map(
    Object.entries(bundle).map(([path, body]) => {
      const contentType = `text/${path.endsWith('.md') ? 'markdown' : 'plain'}; charset=utf-8`;
      return [path, new StaticText(publicDocument({ contentType, body, cacheControl: FOR_MINUTES }))];
    }),
  );
}
