import type { ReactNode } from 'react';
import { ApiFailure } from '../api/failure.js';
import { useMessages } from '../i18n/locale.js';
import { Loaded, type LoadedProps } from './loaded.js';
import { Page } from './page.js';

interface LoadedPageProps<T> extends LoadedProps<T> {
  /** A link to the list in which the user may find what is meant. */
  readonly back: ReactNode;
}

/** A page about one thing. If it does not exist, or not for this user, the page says so and leads back. */
export function LoadedPage<T>({ query, back, children }: LoadedPageProps<T>) {
  const { common } = useMessages();
  if (query.data !== undefined || query.error === null) return <Loaded query={query}>{children}</Loaded>;
  // The service refuses an id that is none as a wrong value.
  const isAbsent = query.error instanceof ApiFailure && [400, 404, 422].includes(query.error.status);
  if (isAbsent)
    return (
      <Page title={common.absentTitle} lead={common.absentText}>
        <p>{back}</p>
      </Page>
    );
  return (
    <Page title={common.failedTitle}>
      <Loaded query={query}>{children}</Loaded>
      <p>{back}</p>
    </Page>
  );
}
