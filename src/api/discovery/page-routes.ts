import { readFile } from 'node:fs/promises';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import * as z from 'zod';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { FOR_MINUTES, publicDocument } from '../server/send-document.js';
import { StaticText } from '../server/static-text.js';
import { PLACES } from './places.js';

const Bundle = z.record(z.string(), z.string());

/**
 * Serves the documentation below `/docs/`, and all of it as one text.
 * @param file the bundle that write-pages.ts made
 */
export function pageRoutes(scope: FastifyInstance, file: string): void {
  let texts: Promise<ReadonlyMap<string, StaticText>> | undefined;
  const send = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    texts ??= readTexts(file);
    const [path = ''] = request.url.split('?');
    // What could not be read is read again for the next request.
    const found = await texts.catch((error: unknown) => {
      texts = undefined;
      throw error;
    });
    const text = found.get(path);
    if (text === undefined) throw new ApiError('ROUTE_NOT_FOUND');
    return text.send(request, reply);
  };
  scope.get('/docs/*', send);
  scope.get(PLACES.llmsFullText.path, send);
}

async function readTexts(file: string): Promise<ReadonlyMap<string, StaticText>> {
  const bundle = Bundle.parse(JSON.parse(await readFile(file, 'utf8')));
  return new Map(
    Object.entries(bundle).map(([path, body]) => {
      const contentType = `text/${path.endsWith('.md') ? 'markdown' : 'plain'}; charset=utf-8`;
      return [path, new StaticText(publicDocument({ contentType, body, cacheControl: FOR_MINUTES }))];
    }),
  );
}
