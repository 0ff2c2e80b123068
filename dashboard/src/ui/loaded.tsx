import type { ReactNode } from 'react';
import { ApiFailure } from '../api/failure.js';
import { useMessages } from '../i18n/locale.js';
import { Button } from './button.js';
import { useFailureText } from './failure-text.js';
import { Notice } from './notice.js';
import { Skeleton } from './skeleton.js';

export interface LoadedProps<T> {
  readonly query: {
    readonly data: T | undefined;
    readonly error: unknown;
    readonly refetch: () => unknown;
  };
  readonly children: (data: T) => ReactNode;
}

/** Shows data once they are there; before that, that they load, or why they do not. */
export function Loaded<T>({ query, children }: LoadedProps<T>) {
  const { common } = useMessages();
  const failureText = useFailureText();
  if (query.data !== undefined) return children(query.data);
  if (query.error === null) return <Skeleton />;
  return (
    <Notice kind="problem">
      <p>
        {common.loadingFailed} {query.error instanceof ApiFailure ? failureText(query.error) : common.loadAgain}
      </p>
      <Button onPress={() => void query.refetch()}>{common.retry}</Button>
    </Notice>
  );
}

interface MoreProps {
  readonly query: {
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
}

/** Loads the next page of a list. */
export function More({ query }: MoreProps) {
  const { common } = useMessages();
  if (!query.hasNextPage) return null;
  return (
    <p className="more">
      <Button onPress={() => void query.fetchNextPage()} isBusy={query.isFetchingNextPage}>
        {common.more}
      </Button>
    </p>
  );
}
