import { ApiError } from '../../../schemas/api/error-codes.js';
import type { Queryable } from '../../platform/database/pool.js';
import { activeDocument, activeDocuments } from '../../tenancy/directory/active-documents.js';
import { contentOf } from '../../tenancy/documents/document-content.js';
import { readContent } from '../../tenancy/documents/read-content.js';
import { getActiveDocument, getActiveDocuments } from './operations/reading.js';
import { reads, type ToolRoute } from './route.js';
import { wantedLanguages } from './wanted-languages.js';

/**
 * Serves the active documents of a site.
 * @param db in the role `consent_ledger_api`
 */
export function documentRoutes(db: Queryable): readonly ToolRoute[] {
  return [
    reads(getActiveDocuments, async ({ caller, query, request }) => ({
      data: { documents: [...activeDocuments(caller.site, wantedLanguages(query, request))] },
    })),
    reads(getActiveDocument, async ({ caller, params, query, request }) => {
      const document = activeDocument(caller.site, params.slug, wantedLanguages(query, request));
      if (document === null) throw new ApiError('DOCUMENT_NOT_FOUND');
      const { media_type, content_sha256 } = document.version;
      return { data: { ...document, content: contentOf(media_type, await readContent(db, content_sha256)) } };
    }),
  ];
}
