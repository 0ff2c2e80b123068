import * as z from 'zod';
import { DocumentVersionPublishedRecord } from '../events/notices.js';
import { DocumentSummary, LanguageWarnings } from './common.js';
import { TEST_MEMBER } from './test-mark.js';

export const DocumentParams = z.object({
  slug: DocumentVersionPublishedRecord.shape.slug.describe('Name of the document in URLs.'),
});

/** GET /tool/v1/documents/active */
export const ActiveDocumentsResponse = z
  .object({
    data: z
      .object({
        documents: z.array(DocumentSummary).describe('The active version of each document.'),
        warnings: LanguageWarnings,
      })
      .describe('The result.'),
    ...TEST_MEMBER,
  })
  .meta({ id: 'ActiveDocumentsResponse' });
export type ActiveDocumentsResponse = z.infer<typeof ActiveDocumentsResponse>;

/** GET /tool/v1/documents/{slug}/active */
export const ActiveDocumentResponse = z
  .object({
    data: DocumentSummary.extend({
      content: z.string().describe('The text, or base64 for a binary media type.'),
      warnings: LanguageWarnings,
    }).describe('The result.'),
    ...TEST_MEMBER,
  })
  .meta({ id: 'ActiveDocumentResponse' });
export type ActiveDocumentResponse = z.infer<typeof ActiveDocumentResponse>;
