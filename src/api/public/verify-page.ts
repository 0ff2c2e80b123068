import { readFile } from 'node:fs/promises';
import type { FastifyInstance } from 'fastify';
import * as z from 'zod';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
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
  serveLazily(
    scope,
    '/verify/verify-page.js',
    async () => ownDocument('text/javascript; charset=utf-8', await readFile(verifierFile('verify-page.js'), 'utf8')),
    (query, { bytes }) => (isOfAnother(query, bytes) ? { 'cache-control': 'no-store' } : {}),
  );
  serve('/verify/consent-verify.html', 'consent-verify.html', {
    'content-disposition': 'attachment; filename="consent-verify.html"',
  });
}

const Asked = z.object({ sha256: z.string() });

/**
 * Whether a page of another version asks for its file, as during an upgrade. It refuses this one by its digest, and must
 * not find it again in a cache when it asks the service of its own version.
 */
function isOfAnother(query: unknown, bytes: Buffer): boolean {
  const asked = Asked.safeParse(query).data?.sha256;
  return asked !== undefined && asked !== sha256Hex(bytes);
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
