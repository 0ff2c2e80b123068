import type { PublicLink } from './places.js';

/** A page of the documentation that the service serves. */
const page = (name: string, title: string, notes: string): PublicLink => ({ title, path: `/docs/${name}.md`, notes });

/** The pages of `docs` that whoever connects a system needs; those about operation and design are in the repository. */
export const PAGES: readonly PublicLink[] = [
  page('sdk', 'SDKs', 'ask on a page, let scripts wait for consent, record from a backend'),
  page('sdk-react', 'React, Vue and Svelte', 'ask in a page of these frameworks, and gate content'),
  page('sdk-mobile', 'Apps', 'record the consents of an app, also offline'),
  page('webhooks', 'Webhooks', 'events, signatures, deliveries, test messages'),
  page('http-api', 'HTTP API', 'keys, signatures, limits, errors and responses of the Tool API'),
  page('panel-api', 'Panel API', 'every operation, its roles, and a walk from nothing to evidence'),
  page('sign-in', 'Sign-in and users', 'tokens, users, roles, invitations'),
  page('scans', 'Scans', 'find cookies that a page sets without declaring them or without permission'),
  page('iab', 'Signals of IAB', 'tell advertisers each choice by TCF and GPP'),
  page('import', 'Bring your history', 'import the consents that a former tool recorded'),
  page('erasure', 'Erasure', 'erase a person, and prove it'),
  page('data-copies', 'Copies of the records', 'keep records elsewhere, and forget what the service erases'),
  page('evidence-exports', 'Evidence exports', 'export evidence packages from the panel or a backend'),
  page('dashboard', 'Dashboard', 'its pages, and who may see them'),
];
