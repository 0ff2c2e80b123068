import { isIP } from 'node:net';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { Skill } from './agent-skills.js';
import { PLACES, type Place, type PublicLink, type UrlOf } from './places.js';
import { publicLinks, SUMMARY } from './public-links.js';

/** RFC 9727 §4.2: the profile of a link set that is an API catalog. */
export const API_CATALOG_PROFILE = 'https://www.rfc-editor.org/info/rfc9727';

/** An API of the service: its base URI, its purpose, and its descriptions. */
export interface Api {
  readonly base: string;
  readonly title: string;
  /** Null if the links describe the API. */
  readonly description: Place | null;
}

export const TOOL_API: Api = {
  base: '/tool/v1/',
  title: 'Tool API: records consents, returns consents in force, verifies records',
  description: PLACES.toolApi,
};
export const PANEL_API: Api = {
  base: '/api/v1/',
  title: 'Panel API: sign-in and administration',
  description: PLACES.panelApi,
};
const LEDGER: Api = {
  base: PLACES.checkpoints.path,
  title: 'The ledger: signed, time stamped checkpoints, and proofs that one extends another',
  description: null,
};
const APIS = [TOOL_API, PANEL_API, LEDGER];

const SCANNER_TITLE =
  'Public scanner: the Tool API on a second host, where configuration and documents need no API key';

/**
 * The API catalog of the service: RFC 9727 §4, as a link set (RFC 9264 §4.2).
 * @param scanner base URI of the public scanner, or null if there is none
 */
export function apiCatalog(urlOf: UrlOf, scanner: string | null): JsonObject {
  const scanners = scanner === null ? [] : [scanner];
  return {
    linkset: [
      {
        anchor: urlOf(PLACES.apiCatalog.path),
        item: [
          ...APIS.map(({ base, title }) => ({ href: urlOf(base), title })),
          ...scanners.map((href) => ({ href, title: SCANNER_TITLE })),
        ],
      },
      ...APIS.map((api) => contextOf(api, urlOf)),
      ...scanners.map((anchor) => ({ ...contextOf(TOOL_API, urlOf), anchor })),
    ],
  };
}

/** The document at the base URI of an API: its links (RFC 9727 §4.1). */
export function apiLinks(api: Api, urlOf: UrlOf): JsonObject {
  return { linkset: [contextOf(api, urlOf)] };
}

/** The relations are those of RFC 8631. */
function contextOf({ base, description }: Api, urlOf: UrlOf): JsonObject {
  const link = ({ path, mediaType }: Place): JsonObject => ({ href: urlOf(path), type: mediaType });
  return {
    anchor: urlOf(base),
    ...(description !== null && { 'service-desc': [link(description)] }),
    'service-doc': [link(PLACES.llmsText)],
    'service-meta': [link(PLACES.agentSkills)],
  };
}

/** Media type of a skill in Markdown: AI Catalog, "Catalog Entry". */
const SKILL_TYPE = 'application/agent-skills+md';

/**
 * The AI catalog of the service: AI Catalog 1.0 (draft), conformance level 2.
 * @param publicUrl public URL from the configuration; without a domain, the names of entries are only unique within
 * this installation
 */
export function aiCatalog(skills: readonly Skill[], urlOf: UrlOf, publicUrl: string | undefined): JsonObject {
  const domain = domainOf(publicUrl);
  return {
    specVersion: '1.0',
    host: {
      displayName: domain === null ? 'Consent Ledger' : `Consent Ledger at ${domain}`,
      ...(domain !== null && { identifier: domain }),
      documentationUrl: urlOf(PLACES.llmsText.path),
    },
    entries: skills.map(({ name, title, description, path }) => ({
      identifier: domain === null ? `consent-ledger:skill:${name}` : `urn:air:${domain}:skill:${name}`,
      displayName: title,
      type: SKILL_TYPE,
      url: urlOf(path),
      description,
      tags: ['consent', 'evidence', 'gdpr'],
    })),
  };
}

/**
 * The domain that makes names unique, or null for an IP address, and for a name that is not in the public DNS.
 */
function domainOf(publicUrl: string | undefined): string | null {
  if (publicUrl === undefined) return null;
  const { hostname } = new URL(publicUrl);
  return isIP(hostname) === 0 && /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(hostname) ? hostname : null;
}

/**
 * llms.txt (llmstxt.org, "Format"): what the service is, for language models, with links to further
 * documents.
 * @param scanner base URI of the public scanner, or null if there is none
 */
export function llmsText(skills: readonly Skill[], urlOf: UrlOf, scanner: string | null): string {
  const { skills: skillLinks, pages, apis, evidence, more } = publicLinks(skills);
  const section = (heading: string, links: readonly PublicLink[]): string => {
    const lines = links.map(({ title, path, notes }) => `- [${title}](${urlOf(path)}): ${notes}`);
    return `## ${heading}\n\n${lines.join('\n')}\n`;
  };
  return `# Consent Ledger

> ${SUMMARY}

- Each accepted consent is an append-only event. Events are sealed into Merkle batches; the tree of all batches is signed by the ledger's key and time stamped by RFC 3161 authorities.
- A record is accepted immediately (202), can be looked up a moment later, and is stamped within minutes. Until then \`is_tsa_stamped\` is false, which is no error.
- Every POST below ${urlOf('/tool/v1/')} is signed with HMAC-SHA256; owners and admins of the tenant create API keys in the panel or by its API, the operator with the \`consent-ledger admin\` command. “Set a site up” says what to ask a person for.
- Personal values can be erased; the proof that a consent was given remains valid.
- To verify evidence, take the ledger's key and the time stamp authority's root certificate from a source other than this service.
${scanner === null ? '' : scannerLine(scanner)}
${section('Skills', skillLinks)}
${section('Documentation', pages)}
${section('APIs', apis)}
${section('Evidence', evidence)}
${section('Optional', more)}`;
}

function scannerLine(scanner: string): string {
  return `- Without an API key, ${scanner} serves GET \`ping\`, \`config\`, \`documents/active\` and \`documents/{slug}/active\` with \`?domain=\` of a verified site, to each address 10 requests a minute.\n`;
}
