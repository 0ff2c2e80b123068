import { type UseQueryResult, useQuery } from '@tanstack/react-query';
import { allPages, answerOf, dataOf } from '../../api/client.js';
import type { PublicRecord } from '../../api/types.js';
import { useApi } from '../../app-context.js';
import { type PublishedConfiguration, readPublished } from './published-configuration.js';

/**
 * The published configuration that a record names, or null if the site has none with this hash.
 * @param hash SHA-256 of the configuration, as the record states it
 */
export function useShownConfiguration(siteId: string, hash: string): UseQueryResult<PublishedConfiguration | null> {
  const api = useApi();
  return useQuery({
    queryKey: ['shown-banner', siteId, hash],
    queryFn: async () => {
      const path = { site_id: siteId };
      const versions = await allPages((cursor) =>
        answerOf(
          api.GET('/api/v1/sites/{site_id}/configuration/versions', {
            params: { path, query: { limit: 100, cursor } },
          }),
        ),
      );
      const found = versions.find(({ sha256 }) => sha256 === hash);
      if (found === undefined) return null;
      const { record } = await dataOf(
        api.GET('/api/v1/sites/{site_id}/configuration/versions/{number}', {
          params: { path: { ...path, number: found.number } },
        }),
      );
      return readPublished(record);
    },
  });
}

/** A category or service that a record decides on. */
export interface Decided {
  readonly key: string;
  /** As the published banner names it; its key until that is known. */
  readonly name: string;
  readonly isService: boolean;
  readonly isGranted: boolean;
  /** Whether nobody was asked about it. */
  readonly isAlwaysOn: boolean;
}

/** What a record decides on, in the order of the banner, with the categories that are always on first. */
export function useDecided(
  siteId: string,
  { site_config_hash: hash, language, categories, services }: PublicRecord,
): readonly Decided[] {
  const published = useShownConfiguration(siteId, hash).data?.categories ?? [];
  const offered = published.flatMap((category) => category.services ?? []);
  const placeOf = ({ key }: Decided) => published.findIndex((category) => category.key === key);
  return [
    ...Object.entries(categories ?? {})
      .map(([key, isGranted]): Decided => {
        const category = published.find((one) => one.key === key);
        const isAlwaysOn = isGranted && category?.required === true;
        return { key, name: category?.title[language] ?? key, isService: false, isGranted, isAlwaysOn };
      })
      .toSorted((a, b) => Number(b.isAlwaysOn) - Number(a.isAlwaysOn) || placeOf(a) - placeOf(b)),
    ...Object.entries(services ?? {}).map(([key, isGranted]): Decided => {
      const name = offered.find((service) => service.key === key)?.name ?? key;
      return { key, name, isService: true, isGranted, isAlwaysOn: false };
    }),
  ];
}
