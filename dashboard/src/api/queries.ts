import { MutationCache, QueryClient } from '@tanstack/react-query';
import { ApiFailure } from './failure.js';

declare module '@tanstack/react-query' {
  interface Register {
    /** `isPublic`: the response is the same for every user, and for a browser without a sign-in. */
    queryMeta: {
      readonly isPublic?: boolean;
      /** `isOnRequest`: the service writes each reading to the audit log, so it is read when a user asks, and never again by itself. */
      readonly isOnRequest?: boolean;
      /** `isFixed`: the key of the query names what never changes, by its digest or as a published version. */
      readonly isFixed?: boolean;
    };
  }
}

/** Whether a second attempt can help: the service did not answer, or failed. */
function isRetried(attempts: number, error: Error): boolean {
  return attempts < 2 && error instanceof ApiFailure && (error.status === 0 || error.status >= 500);
}

/** The cache of answers of the panel API. */
export function createQueries(): QueryClient {
  const queries: QueryClient = new QueryClient({
    defaultOptions: { queries: { retry: isRetried, staleTime: 10_000 } },
    // A change can affect every list: the counts of a site, the audit log, the quota.
    mutationCache: new MutationCache({
      onSuccess: () =>
        queries.invalidateQueries({ predicate: ({ meta }) => meta?.isOnRequest !== true && meta?.isFixed !== true }),
    }),
  });
  return queries;
}

/**
 * Removes what one user read, so that it is not shown to the next. Public queries stay, because a page without a
 * sign-in may be waiting for one, and the response to a removed query would reach no page.
 */
export function forgetUser(queries: QueryClient): void {
  queries.removeQueries({ predicate: ({ meta }) => meta?.isPublic !== true });
  queries.getMutationCache().clear();
}
