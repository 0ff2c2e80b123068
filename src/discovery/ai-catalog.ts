import type { JsonObject } from '../../schemas/json/json-value.js';
import type { Skill } from './agent-skills.js';
import { PLACES, type UrlOf } from './places.js';

/** Of a skill in Markdown: AI Catalog, "Catalog Entry". */
const SKILL_TYPE = 'application/agent-skills+md';

/**
 * The catalogue of what agents can use: AI Catalog 1.0 (draft), conformance level 2.
 * @param publicUrl of the configuration; without it entries have names that hold within this installation only
 */
export function aiCatalog(skills: readonly Skill[], urlOf: UrlOf, publicUrl: string | undefined): JsonObject {
  const host = publicUrl === undefined ? undefined : new URL(publicUrl).hostname;
  return {
    specVersion: '1.0',
    host: {
      displayName: host === undefined ? 'Consent Ledger' : `Consent Ledger at ${host}`,
      ...(host !== undefined && { identifier: host }),
      documentationUrl: urlOf(PLACES.llmsText.path),
    },
    entries: skills.map(({ name, title, description, path }) => ({
      identifier: host === undefined ? `consent-ledger:skill:${name}` : `urn:air:${host}:skill:${name}`,
      displayName: title,
      type: SKILL_TYPE,
      url: urlOf(path),
      description,
      tags: ['consent', 'evidence', 'gdpr'],
    })),
  };
}
