import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import { verifierFile } from '../../evidence/package/index.js';
import { FOR_MINUTES, preparedDocument } from '../server/send-document.js';
import { StaticText, serveLazily } from '../server/static-text.js';

/**
 * Serves the verifier as a page with the public look-up, and as a page on its own that can be saved and used from disk.
 * Both are built with the verifier, and each states in its own policy what it may do.
 */
export function verifyPage(scope: FastifyInstance): void {
  const serve = (path: string, file: string, headers: Readonly<Record<string, string>> = {}): void => {
    serveLazily(scope, path, () => readPage(verifierFile(file), headers));
  };
  serve('/verify', 'verify-page.html');
  serve('/verify/consent-verify.html', 'consent-verify.html', {
    'content-disposition': 'attachment; filename="consent-verify.html"',
  });
}

async function readPage(path: string, headers: Readonly<Record<string, string>>): Promise<StaticText> {
  const html = await readFile(path, 'utf8');
  return new StaticText(
    preparedDocument('text/html; charset=utf-8', html, {
      ...headers,
      'content-security-policy': `${policyOf(html)}; frame-ancestors 'none'`,
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
