import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import type { FastifyInstance, FastifyReply } from 'fastify';

const CACHED = 'public, max-age=300';

/**
 * The verifier as a page, with the public look-up beside it, and the same page alone, to be kept
 * and used from disk. Both were built with the verifier; each says itself, in its policy, what it
 * may do.
 */
export function verifyPage(scope: FastifyInstance): void {
  const folder = join(dirname(createRequire(import.meta.url).resolve('consent-verify/package.json')), 'dist');
  const send = async (reply: FastifyReply, file: string): Promise<string> => {
    const html = await readFile(join(folder, file), 'utf8');
    reply.headers({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `${policyOf(html)}; frame-ancestors 'none'`,
      'cross-origin-opener-policy': 'same-origin',
      'cross-origin-resource-policy': 'same-origin',
      'cache-control': CACHED,
    });
    return html;
  };
  scope.get('/verify', (_request, reply) => send(reply, 'verify-page.html'));
  scope.get('/verify/consent-verify.html', (_request, reply) =>
    send(reply.header('content-disposition', 'attachment; filename="consent-verify.html"'), 'consent-verify.html'),
  );
}

/**
 * The header repeats the policy of the page: where there are several policies, only what all of
 * them allow is allowed.
 */
function policyOf(html: string): string {
  const policy = /<meta http-equiv="Content-Security-Policy" content="([^"]+)">/.exec(html)?.[1];
  if (policy === undefined) throw new Error('the built page states no policy');
  return policy;
}
