import { useInfiniteQuery } from '@tanstack/react-query';
import { answerOf } from '../api/client.js';
import type { ErrorBody, PageOf } from '../api/types.js';

interface Call<T> {
  readonly data?: PageOf<T>;
  readonly error?: ErrorBody;
  readonly response: Response;
}

interface PagesOptions {
  /** Read once, and not again by itself: the service writes each reading to the audit log. */
  readonly isOnRequest?: boolean;
  /** How long a list on request is kept after its page was left, in milliseconds; if omitted, none. */
  readonly keptMs?: number;
}

/**
 * A list that loads page by page. A page can be empty although more follow; the next one is then
 * loaded at once, at most three times.
 * @param key key of the list, which includes everything that selects its items
 * @param refetch after how many milliseconds the list is read again, depending on its content, or false to read it only
 * once
 */
export function usePages<T>(
  key: readonly unknown[],
  read: (cursor: string | undefined) => Promise<Call<T>>,
  refetch: (items: readonly T[]) => number | false = () => false,
  options: PagesOptions = {},
) {
  const query = useInfiniteQuery({
    queryKey: ['pages', ...key],
    queryFn: async ({ pageParam }) => {
      const items: T[] = [];
      let cursor = pageParam;
      for (let attempt = 0; attempt < 3; attempt += 1) {
        const page = await answerOf(read(cursor));
        items.push(...page.data);
        cursor = page.next_cursor ?? undefined;
        if (cursor === undefined || items.length > 0) break;
      }
      return { items, cursor };
    },
    initialPageParam: undefined as string | undefined,
    getNextPageParam: ({ cursor }) => cursor,
    ...(options.isOnRequest === true && {
      staleTime: Number.POSITIVE_INFINITY,
      gcTime: options.keptMs ?? 0,
      meta: { isOnRequest: true },
    }),
    refetchInterval: ({ state }) => refetch(state.data?.pages.flatMap(({ items }) => items) ?? []),
  });
  return { ...query, data: query.data?.pages.flatMap(({ items }) => items) };
}
