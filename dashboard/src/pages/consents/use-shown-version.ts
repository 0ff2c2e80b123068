import { useQuery } from '@tanstack/react-query';
import { answerOf, dataOf } from '../../api/client.js';
import { useApi } from '../../app-context.js';

/**
 * The version of the text that a record consents to.
 * @param slug slug of the document; if it is null, no version is found
 */
export function useShownVersion(siteId: string, slug: string | null, versionId: string) {
  const api = useApi();
  return useQuery({
    queryKey: ['shown-document', siteId, slug, versionId],
    queryFn: async () => {
      const { data } = await answerOf(
        api.GET('/api/v1/sites/{site_id}/documents', {
          params: { path: { site_id: siteId }, query: { slug: slug ?? '' } },
        }),
      );
      const path = { site_id: siteId, document_id: data[0]?.id ?? versionId, version_id: versionId };
      return dataOf(
        api.GET('/api/v1/sites/{site_id}/documents/{document_id}/versions/{version_id}', { params: { path } }),
      );
    },
    enabled: slug !== null,
  });
}
