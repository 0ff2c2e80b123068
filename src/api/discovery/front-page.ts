import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64, utf8 } from '../../../schemas/crypto/encoding.js';
import { escapeHtml } from '../../../schemas/text/escape-html.js';
import { FOR_MINUTES, type PublicDocument, preparedDocument } from '../server/send-document.js';
import type { Skill } from './agent-skills.js';
import { PLACES, type PublicLink } from './places.js';
import { publicLinks, SUMMARY } from './public-links.js';

const STYLE = `
body { font: 1rem/1.55 system-ui, sans-serif; color: #1c2127; background: #f4f5f7; margin: 0; padding: 1rem; }
main { max-width: 46rem; margin: 2rem auto; padding: 2rem 2.5rem; background: #fff; border: 1px solid #d5d9de; border-radius: 8px; }
h1 { margin-top: 0; }
h2 { font-size: 1.1rem; margin-top: 2rem; }
li { margin: 0.4rem 0; }
a { color: #0b57a4; }
@media (max-width: 40rem) { main { margin: 0 auto; padding: 1rem 1.2rem; } }
@media (prefers-color-scheme: dark) { body { color: #e6e8eb; background: #14171a; } main { background: #1c2127; border-color: #3a424b; } a { color: #8ab8ee; } }
`;

/**
 * The page at the root of the service, which says what the service is, and links to its public documents. It runs no
 * script and loads nothing.
 * @param hasSecurityText whether the service has a security.txt
 */
export function frontPage(skills: readonly Skill[], hasSecurityText: boolean): PublicDocument {
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
  const html = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Consent Ledger</title>
<style>${STYLE}</style>
</head>
<body>
<main>
<h1>Consent Ledger</h1>
<p>${escapeHtml(SUMMARY)}</p>
<p>Do you have an account? <a href="${PLACES.dashboard.path}">Open the dashboard.</a></p>
<p>Do you have a consent token or an evidence package? <a href="${PLACES.verifier.path}">Check it here.</a></p>
${section('Evidence', links.evidence)}
${section('Documentation', links.pages)}
${section('APIs', links.apis)}
${section('For agents', links.skills)}
${section('More', more)}
</main>
</body>
</html>
`;
  return preparedDocument('text/html; charset=utf-8', html, {
    'content-security-policy': `default-src 'none'; style-src 'sha256-${toBase64(sha256(utf8(STYLE)))}'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'`,
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
