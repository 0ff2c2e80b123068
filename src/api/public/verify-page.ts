import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { verifierFile } from '../../evidence/package/index.js';
import { FOR_MINUTES, preparedDocument } from '../server/send-document.js';
import { StaticText, serveLazily } from '../server/static-text.js';

/**
 * Serves the verifier as a page with the public look-up, and as a page on its own that can be saved and used from disk.
 * Both are built with the verifier, and each states in its own policy what it may do. The first loads the verifier as a
 * file of its own, which its policy permits by its digest.
 */
export function verifyPage(scope: FastifyInstance): void {
  const serve = (path: string, file: string, headers: Readonly<Record<string, string>> = {}): void => {
    serveLazily(scope, path, async () => {
      const html = await readFile(verifierFile(file), 'utf8');
      const policy = `${policyOf(html)}; frame-ancestors 'none'`;
      return ownDocument('text/html; charset=utf-8', html, { ...headers, 'content-security-policy': policy });
    });
  };
  serve('/verify', 'verify-page.html');
  serveLazily(scope, '/verify/verify-page.js', async () =>
    ownDocument('text/javascript; charset=utf-8', await readFile(verifierFile('verify-page.js'), 'utf8')),
  );
  serve('/verify/consent-verify.html', 'consent-verify.html', {
    'content-disposition': 'attachment; filename="consent-verify.html"',
  });
}

/** A text for pages of this origin alone. */
function ownDocument(contentType: string, text: string, headers: Readonly<Record<string, string>> = {}): StaticText {
  return new StaticText(
    preparedDocument(contentType, text, {
      ...headers,
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': FOR_MINUTES,
    }),
  );
}

/**
 * Returns the policy of the page, which the header repeats. If there are several policies, a browser permits only what
 * all of them permit.
 */
function policyOf(html: string): string {
  const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(html)?.[1];
  if (policy === undefined) throw new Error('the built page states no policy');
  return policy;
}
