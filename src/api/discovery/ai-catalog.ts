import { isIP } from 'node:net';
import type { JsonObject } from '../../../schemas/json/json-value.js';
import type { Skill } from './agent-skills.js';
import { PLACES, type UrlOf } from './places.js';

/** Media type of a skill in Markdown: AI Catalog, "Catalog Entry". */
const SKILL_TYPE = 'application/agent-skills+md';

/**
 * The AI catalog of the service: AI Catalog 1.0 (draft), conformance level 2.
 * @param publicUrl of the configuration; without a domain, the names of entries are unique within
 *   this installation only
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
 * The domain that makes names unique; null for an IP address, and for a name that is not in the
 * public DNS.
 */
function domainOf(publicUrl: string | undefined): string | null {
  if (publicUrl === undefined) return null;
  const { hostname } = new URL(publicUrl);
  return isIP(hostname) === 0 && /^[a-z0-9-]+(?:\.[a-z0-9-]+)+$/.test(hostname) ? hostname : null;
}
