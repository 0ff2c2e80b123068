import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import {
  type ActiveDocumentResponse,
  type ActiveDocumentsResponse,
  DocumentParams,
} from '../../../schemas/api/documents.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import { activeDocument, activeDocuments } from '../../tenancy/directory/active-documents.js';
import { contentOf } from '../../tenancy/documents/document-content.js';
import { readContent } from '../../tenancy/documents/read-content.js';
import type { ToolGuards } from '../guards/tool-guard.js';
import { callerOf } from '../server/caller.js';
import { wantedLanguages } from './wanted-languages.js';

/** GET /tool/v1/documents/active and GET /tool/v1/documents/{slug}/active */
export function getDocuments(tool: FastifyInstance, guards: ToolGuards, pool: pg.Pool): void {
  tool.get('/documents/active', { onRequest: guards.read }, (request, reply) => {
    const documents = [...activeDocuments(callerOf(request).site, wantedLanguages(request))];
    const body: ActiveDocumentsResponse = { data: { documents } };
    reply.send(body);
  });
  tool.get('/documents/:slug/active', { onRequest: guards.read }, async (request): Promise<ActiveDocumentResponse> => {
    const params = DocumentParams.safeParse(request.params);
    const wanted = wantedLanguages(request);
    const document = params.success ? activeDocument(callerOf(request).site, params.data.slug, wanted) : null;
    if (document === null) throw new ApiError('DOCUMENT_NOT_FOUND');
    const { media_type, content_sha256 } = document.version;
    return { data: { ...document, content: contentOf(media_type, await readContent(pool, content_sha256)) } };
  });
}
