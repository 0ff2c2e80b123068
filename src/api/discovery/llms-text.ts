import type { Skill } from './agent-skills.js';
import { PLACES, type UrlOf } from './places.js';

/**
 * llms.txt (llmstxt.org, "Format"): what the service is, for language models, with links to further
 * documents.
 */
export function llmsText(skills: readonly Skill[], urlOf: UrlOf): string {
  const link = (name: string, path: string, notes: string): string => `- [${name}](${urlOf(path)}): ${notes}`;
  return `# Consent Ledger

> A service that records consents (cookie banners, document approvals, opt-outs) so that years later anyone can check, offline and without trust in the service, who agreed to what, in which words, and when.

- Each accepted consent is an append-only event. Events are sealed into Merkle batches; the tree of all batches is signed by the ledger's key and time stamped by RFC 3161 authorities.
- A record is accepted immediately (202), can be looked up a moment later, and is stamped within minutes. Until then \`is_tsa_stamped\` is false, which is no error.
- Every POST below ${urlOf('/tool/v1/')} is signed with HMAC-SHA256; owners and admins of the tenant create API keys in the panel or by its API, the operator with the \`consent-ledger admin\` command.
- Personal values can be erased; the proof that a consent was given remains valid.
- To verify evidence, take the ledger's key and the time stamp authority's root certificate from a source other than this service.

## Skills

${skills.map(({ title, path, description }) => link(title, path, description)).join('\n')}

## APIs

${link('Tool API', PLACES.toolApi.path, 'OpenAPI 3.1 description of recording, status, verification and export, with an example of each request')}
${link('Panel API', PLACES.panelApi.path, 'OpenAPI 3.1 description of sign-in and administration')}
${link('API catalog', PLACES.apiCatalog.path, 'the APIs as a link set (RFC 9727)')}

## Evidence

${link('Verifier', PLACES.verifier.path, 'a page that checks evidence packages in the browser, and looks up a record by its token')}
${link('Verifier to download', PLACES.verifierFile.path, 'the same page as one file that works offline')}
${link('Checkpoints', PLACES.checkpoints.path, 'the ledger at each stamped size: signed notes, time stamp tokens, consistency proofs')}
${link("The ledger's key", PLACES.ledgerKey.path, 'the verifier key in force (C2SP signed note)')}
${link("The ledger's keys", PLACES.ledgerKeys.path, 'every key, and the checkpoints that introduced them')}

## Optional

${link('Index of skills', PLACES.agentSkills.path, 'with the digest of each')}
${link('AI catalog', PLACES.aiCatalog.path, 'the skills as an AI Catalog')}
${link('Keys of access tokens', PLACES.jwkSet.path, 'a JWK Set')}
`;
}
