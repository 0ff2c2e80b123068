import { createRequire } from 'node:module';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../../platform/config/index.js';
import type { Keyring } from '../../platform/keys/index.js';
import { FOR_MINUTES, publicDocument } from '../server/send-document.js';
import { latestText, StaticText, serveBuilt } from '../server/static-text.js';
import { agentSkills, agentSkillsIndex } from './agent-skills.js';
import { aiCatalog } from './ai-catalog.js';
import { API_CATALOG_PROFILE, type Api, apiCatalog, apiLinks, PANEL_API, TOOL_API } from './api-catalog.js';
import { frontPage } from './front-page.js';
import { jwkSet } from './jwk-set.js';
import { llmsText } from './llms-text.js';
import { pageRoutes } from './page-routes.js';
import { jsonText, PLACES, scannerUrl, urlsUnder } from './places.js';
import { robotsText } from './robots-text.js';
import { securityText } from './security-text.js';

export type DiscoveryOptions = Config['discovery'] &
  Pick<Keyring, 'jwtKeys'> & {
    readonly now: () => Date;
    /** Host name of the public scanner; undefined: there is none. */
    readonly scannerHost: string | undefined;
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
  const front = new StaticText(frontPage(skills, securityContacts.length > 0));
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
