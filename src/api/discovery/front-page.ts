import { escapeHtml } from '../../../schemas/text/escape-html.js';
import { PAGE_POLICY, pageOf } from '../server/page.js';
import { FOR_MINUTES, type PublicDocument, preparedDocument } from '../server/send-document.js';
import type { Skill } from './agent-skills.js';
import { PLACES, type PublicLink } from './places.js';
import { publicLinks } from './public-links.js';

interface FrontPageOptions {
  /** Whether the service has a security.txt. */
  readonly hasSecurityText: boolean;
  /** Whether everyone can create an organisation. */
  readonly isSignUpOpen: boolean;
}

/**
 * The page at the root of the service: what the service is, a door for each kind of reader, and the public documents
 * behind one more press. It runs no script and loads nothing.
 */
export function frontPage(
  skills: readonly Skill[],
  { hasSecurityText, isSignUpOpen }: FrontPageOptions,
): PublicDocument {
  const links = publicLinks(skills);
  const security: PublicLink = {
    title: 'Report a vulnerability',
    path: PLACES.securityText.path,
    notes: 'security.txt',
  };
  const more: readonly PublicLink[] = [
    ...links.more,
    { title: 'llms.txt', path: PLACES.llmsText.path, notes: 'this page for language models' },
    ...(hasSecurityText ? [security] : []),
  ];
  const signUp = isSignUpOpen ? `<a class="button" href="${PLACES.dashboard.path}/sign-up">Create an account</a>` : '';
  const main = `<h1>Who agreed to what, in which words, and when</h1>
<p class="lead">Consent Ledger records consents so that years later anyone can check them, without trusting the service.</p>
<div class="doors">
<section class="card">
<h2>Check a consent</h2>
<p>You have a consent token, a receipt or an evidence package.</p>
<p><a class="button button-primary" href="${PLACES.verifier.path}">Check it</a></p>
</section>
<section class="card">
<h2>Run a site</h2>
<p>You ask visitors for consent, and must be able to prove what they chose.</p>
<p><a class="button" href="${PLACES.dashboard.path}">Sign in</a>${signUp}</p>
</section>
<section class="card">
<h2>Develop</h2>
<p>You connect a page, an app or a backend.</p>
<p><a class="button" href="/docs/ten-minutes.md">Start in ten minutes</a><a class="button" href="/docs/http-api.md">HTTP API</a></p>
</section>
</div>
<details>
<summary>All public documents</summary>
${section('Evidence', links.evidence)}
${section('Documentation', links.pages)}
${section('APIs', links.apis)}
${section('For agents', links.skills)}
${section('More', more)}
</details>`;
  return preparedDocument('text/html; charset=utf-8', pageOf({ title: 'Consent Ledger', main }), {
    'content-security-policy': PAGE_POLICY,
    'cross-origin-opener-policy': 'same-origin',
    'cross-origin-resource-policy': 'same-origin',
    'cache-control': FOR_MINUTES,
  });
}

function section(heading: string, links: readonly PublicLink[]): string {
  const items = links.map(
    ({ title, path, notes }) => `<li><a href="${escapeHtml(path)}">${escapeHtml(title)}</a>: ${escapeHtml(notes)}</li>`,
  );
  return `<h2>${escapeHtml(heading)}</h2>\n<ul>\n${items.join('\n')}\n</ul>`;
}
