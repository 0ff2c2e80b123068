import { type ReactNode, useEffect, useRef, useState } from 'react';
import { ApiFailure } from '../api/failure.js';
import { useFormats, useMessages } from '../i18n/locale.js';
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
    readonly data: readonly unknown[] | undefined;
    readonly hasNextPage: boolean;
    readonly isFetchingNextPage: boolean;
    readonly fetchNextPage: () => unknown;
  };
  /** Whether the page says elsewhere how many items it shows. */
  readonly isCounted?: boolean;
}

/** Loads the next page of a list, and says how many items it shows then. */
export function More({ query, isCounted = false }: MoreProps) {
  const { common } = useMessages();
  const { number } = useFormats();
  const line = useRef<HTMLSpanElement>(null);
  const [isPressed, setPressed] = useState(false);
  const { data, hasNextPage, isFetchingNextPage } = query;
  const isAtEnd = isPressed && !hasNextPage && !isFetchingNextPage;
  useEffect(() => {
    // The button that had the focus is gone.
    if (isAtEnd) line.current?.focus();
  }, [isAtEnd]);
  if (!hasNextPage && !isPressed) return null;
  return (
    <p className="more actions">
      {hasNextPage ? (
        <Button
          onPress={() => {
            setPressed(true);
            void query.fetchNextPage();
          }}
          isBusy={isFetchingNextPage}
        >
          {common.more}
        </Button>
      ) : null}
      <span ref={line} role={isCounted ? undefined : 'status'} tabIndex={-1} className="hint">
        {isPressed && !isFetchingNextPage && (!isCounted || !hasNextPage)
          ? common.shown(number(data?.length ?? 0), hasNextPage)
          : ''}
      </span>
    </p>
  );
}
