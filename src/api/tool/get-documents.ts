import type { ActiveDocumentResponse, ActiveDocumentsResponse } from '../../../schemas/api/documents.js';
import { ApiError } from '../../../schemas/api/error-codes.js';
import type { Queryable } from '../../platform/database/pool.js';
import { activeDocument, activeDocuments } from '../../tenancy/directory/active-documents.js';
import { contentOf, readContent } from '../../tenancy/documents/content.js';
import { sendCacheableJson } from '../server/send-document.js';
import { getActiveDocument, getActiveDocuments } from './operations/reading.js';
import { readsPublicly, type ToolRoute, testMarkOf } from './route.js';
import { wantedLanguages } from './wanted-languages.js';

/**
 * Serves the active documents of a site.
 * @param db in the role `consent_ledger_api`
 */
export function documentRoutes(db: Queryable): readonly ToolRoute[] {
  return [
    readsPublicly(getActiveDocuments, async ({ site, apiKey, query, request, reply }) => {
      const { tags, warned } = wantedLanguages(query, request, site);
      const data = { documents: [...activeDocuments(site, tags)], ...warned };
      return sendCacheableJson(request, reply, { data, ...testMarkOf(apiKey) } satisfies ActiveDocumentsResponse);
    }),
    readsPublicly(getActiveDocument, async ({ site, apiKey, params, query, request, reply }) => {
      const { tags, warned } = wantedLanguages(query, request, site);
      const document = activeDocument(site, params.slug, tags);
      if (document === null) throw new ApiError('DOCUMENT_NOT_FOUND');
      const { media_type, content_sha256 } = document.version;
      const content = contentOf(media_type, await readContent(db, content_sha256));
      return sendCacheableJson(request, reply, {
        data: { ...document, content, ...warned },
        ...testMarkOf(apiKey),
      } satisfies ActiveDocumentResponse);
    }),
  ];
}
