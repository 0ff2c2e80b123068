import { type Api, answerOf } from '../../api/client.js';
import type { DocumentVersion } from '../../api/types.js';

/** The exact bytes of a version. @throws ApiFailure */
export async function readVersion(api: Api, siteId: string, version: DocumentVersion): Promise<Blob> {
  return answerOf<Blob>(
    api.GET('/api/v1/sites/{site_id}/documents/{document_id}/versions/{version_id}/content', {
      params: { path: { site_id: siteId, document_id: version.document_id, version_id: version.id } },
      parseAs: 'blob',
    }),
  );
}

/** Whether the format is readable without conversion. */
export function isText({ media_type }: Pick<DocumentVersion, 'media_type'>): boolean {
  return media_type.startsWith('text/');
}
