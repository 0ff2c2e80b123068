import type { FastifyInstance } from 'fastify';
import { escapeHtml } from '../../../schemas/text/escape-html.js';
import { type Example, readExample } from '../../platform/files.js';
import { PAGE_STYLE_SOURCE, pageOf } from '../server/page.js';

const POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "connect-src 'self'",
  `style-src ${PAGE_STYLE_SOURCE}`,
  "img-src 'self' data:",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/**
 * Serves the page of the example site of `serve --example`, with the banner. It exists only if the data folder is
 * marked as an example.
 */
export function tryPage(scope: FastifyInstance, dataDir: string): void {
  scope.get('/try', async (_request, reply) => {
    const example = await readExample(dataDir);
    if (example === null) return reply.callNotFound();
    return reply
      .headers({
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': POLICY,
        'cache-control': 'no-store',
      })
      .send(page(example));
  });
}

function page({ domain, keys, user }: Example): string {
  const main = `<p class="mark"><strong>Example.</strong> ${escapeHtml(domain)} does not exist, and nothing here is real.</p>
<h1>A page with the banner</h1>
<ol>
<li>Answer the cookie banner at the bottom of the window. Your choice is recorded, sealed and time-stamped, as on a real site.</li>
<li><button type="button" class="button" data-consent-settings>Open the settings</button> to change it, and to see its proof.</li>
<li>See it in <a href="/panel">the dashboard</a>: sign in as ${escapeHtml(user.email)}, with the password that the terminal shows.</li>
</ol>
<p>On your own site you add one line of HTML, with the address of your service and your own key: <code>&lt;script src="https://consent.example.org/sdk/consent.js" data-api-key="…"&gt;&lt;/script&gt;</code></p>`;
  const head = `<script src="/sdk/consent.js" data-api-key="${escapeHtml(keys.write)}"></script>
`;
  return pageOf({ title: 'Try the banner – Consent Ledger example', main, head });
}
