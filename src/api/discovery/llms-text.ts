import type { Skill } from './agent-skills.js';
import type { PublicLink, UrlOf } from './places.js';
import { publicLinks, SUMMARY } from './public-links.js';

/**
 * llms.txt (llmstxt.org, "Format"): what the service is, for language models, with links to further
 * documents.
 * @param scanner base URI of the public scanner; null: there is none
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
