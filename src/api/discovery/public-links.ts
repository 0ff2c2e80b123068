import type { Skill } from './agent-skills.js';
import { PLACES, type PublicLink } from './places.js';

/** Description of the service in one sentence. */
export const SUMMARY =
  'A service that records consents (cookie banners, document approvals, opt-outs) so that years later anyone can check, offline and without trust in the service, who agreed to what, in which words, and when.';

/** The public documents by topic, for readers and for language models. */
export interface PublicLinks {
  readonly skills: readonly PublicLink[];
  readonly pages: readonly PublicLink[];
  readonly apis: readonly PublicLink[];
  readonly evidence: readonly PublicLink[];
  readonly more: readonly PublicLink[];
}

export function publicLinks(skills: readonly Skill[]): PublicLinks {
  const link = (title: string, { path }: { readonly path: string }, notes: string) => ({ title, path, notes });
  return {
    skills: skills.map((skill) => link(skill.title, skill, skill.description)),
    pages: PAGES,
    apis: [
      link(
        'Tool API',
        PLACES.toolApi,
        'OpenAPI 3.1 description of recording, status, verification and export, with an example of each request',
      ),
      link('Panel API', PLACES.panelApi, 'OpenAPI 3.1 description of sign-in and administration'),
      link(
        'Browser SDK',
        PLACES.browserSdk,
        'one script for a page: an accessible banner, recorded choices, scripts that wait for consent',
      ),
      link('API catalog', PLACES.apiCatalog, 'the APIs as a link set (RFC 9727)'),
    ],
    evidence: [
      link(
        'Verifier',
        PLACES.verifier,
        'a page that checks evidence packages in the browser, and looks up a record by its token',
      ),
      link('Verifier to download', PLACES.verifierFile, 'the same page as one file that works offline'),
      link(
        'Checkpoints',
        PLACES.checkpoints,
        'the ledger at each stamped size: signed notes, time stamp tokens, consistency proofs',
      ),
      link("The ledger's key", PLACES.ledgerKey, 'the verifier key in force (C2SP signed note)'),
      link("The ledger's keys", PLACES.ledgerKeys, 'every key, and the checkpoints that introduced them'),
      link('Roots of the time stamps', PLACES.tsaRoots, 'root certificates of the time stamp authorities (PEM)'),
    ],
    more: [
      link('llms-full.txt', PLACES.llmsFullText, 'the skills and the documentation as one text'),
      link('Index of skills', PLACES.agentSkills, 'with the digest of each'),
      link('AI catalog', PLACES.aiCatalog, 'the skills as an AI Catalog'),
      link('Keys of access tokens', PLACES.jwkSet, 'a JWK Set'),
    ],
  };
}

/** A page of the documentation that the service serves. */
const page = (name: string, title: string, notes: string): PublicLink => ({ title, path: `/docs/${name}.md`, notes });

/**
 * The pages of `docs` for readers who connect a system. Pages about operation and design are only in the repository.
 */
export const PAGES: readonly PublicLink[] = [
  page('ten-minutes', 'Ten minutes', 'recipes to copy for pages, frameworks and tags, and how to check them'),
  page('sdk', 'SDKs', 'the reference of the SDK for pages: attributes, functions, events, texts, cookies'),
  page('sdk-rules', 'Rules of the SDKs', 'what happens when a visitor chooses, withdraws or sends a signal'),
  page('sdk-backend', 'A backend', 'record, read and erase consents with the SDK for Node'),
  page('sdk-react', 'React, Vue and Svelte', 'ask in a page of these frameworks, and gate content'),
  page('sdk-mobile', 'Apps', 'record the consents of an app, also offline'),
  page('webhooks', 'Webhooks', 'events, signatures, deliveries, test messages'),
  page('http-api', 'HTTP API', 'keys, signatures, limits, errors and responses of the Tool API'),
  page('panel-api', 'Panel API', 'every operation, its roles, and a walk from nothing to evidence'),
  page('sign-in', 'Sign-in and users', 'tokens, users, roles, invitations'),
  page('scans', 'Scans', 'find cookies that a page sets without declaring them or without permission'),
  page('iab', 'Signals of IAB', 'tell advertisers each choice by TCF and GPP'),
  page('law', 'Laws', 'which rule may be published where, its sources, and what a site must do itself'),
  page('import', 'Bring your history', 'import the consents that a former tool recorded'),
  page('erasure', 'Erasure', 'erase a person, and prove it'),
  page('data-copies', 'Copies of the records', 'keep records elsewhere, and forget what the service erases'),
  page('evidence-exports', 'Evidence exports', 'export evidence packages from the panel or a backend'),
  page('dashboard', 'Dashboard', 'its pages, and who may see them'),
];
