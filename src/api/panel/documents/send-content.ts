import type { FastifyReply } from 'fastify';
import type { DocumentVersion } from '../../../../schemas/api/panel/documents.js';
import type { Queryable } from '../../../platform/database/pool.js';
import { isTextMediaType, readContent } from '../../../tenancy/documents/content.js';

/**
 * Sends the exact bytes of a version as a download. A text can contain scripts, which must not run
 * in the origin of the panel: therefore it is an attachment, browsers must not guess its type, and
 * a sandbox applies if a browser displays it.
 */
export async function sendContent(
  db: Queryable,
  reply: FastifyReply,
  slug: string,
  version: DocumentVersion,
): Promise<void> {
  const { media_type: mediaType, content_sha256: sha256, language, number } = version;
  const bytes = Buffer.from(await readContent(db, sha256));
  const name = `${slug}-${language}-${number ?? 'draft'}${extensionOf(mediaType)}`;
  await reply
    .headers({
      'content-type': isTextMediaType(mediaType) ? `${mediaType}; charset=utf-8` : mediaType,
      'content-disposition': `attachment; filename="${name}"`,
      'content-security-policy':
        "sandbox; default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
      'cross-origin-resource-policy': 'same-origin',
      'repr-digest': `sha-256=:${Buffer.from(sha256, 'hex').toString('base64')}:`,
    })
    .send(bytes);
}

const EXTENSIONS: ReadonlyMap<string, string> = new Map([
  ['text/plain', '.txt'],
  ['text/html', '.html'],
  ['text/markdown', '.md'],
  ['application/pdf', '.pdf'],
  ['application/json', '.json'],
]);

function extensionOf(mediaType: string): string {
  return EXTENSIONS.get(mediaType) ?? '';
}
