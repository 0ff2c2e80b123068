import { useQueryClient } from '@tanstack/react-query';
import { answerOf } from '../../api/client.js';
import type { DocumentVersion } from '../../api/types.js';
import { useApi } from '../../app-context.js';

/**
 * Reads the exact bytes of a version, once for all parts of the page: its digest names them.
 * @returns a function that throws an ApiFailure
 */
export function useReadVersion(siteId: string): (version: DocumentVersion) => Promise<Blob> {
  const api = useApi();
  const queries = useQueryClient();
  return ({ id, document_id, content_sha256 }) =>
    queries.fetchQuery({
      queryKey: ['bytes', id, content_sha256],
      queryFn: () =>
        answerOf<Blob>(
          api.GET('/api/v1/sites/{site_id}/documents/{document_id}/versions/{version_id}/content', {
            params: { path: { site_id: siteId, document_id, version_id: id } },
            parseAs: 'blob',
          }),
        ),
      staleTime: Number.POSITIVE_INFINITY,
      meta: { isFixed: true },
    });
}

/** Whether the format is readable without conversion. */
export function isText({ media_type }: Pick<DocumentVersion, 'media_type'>): boolean {
  return media_type.startsWith('text/');
}
