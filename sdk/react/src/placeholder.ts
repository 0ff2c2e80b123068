import { createElement, type HTMLAttributes, type ReactNode, useEffect, useRef, useState } from 'react';
import { Gate, type Gated } from './headless.js';
import { useSession } from './session-context.js';

/** What a placeholder says: `title`, and the attributes `data-consent-…` of the SDK for pages. */
export type PlaceholderAttributes = HTMLAttributes<HTMLElement> &
  Readonly<Record<`data-${string}`, string | undefined>>;

export type PlaceholderGateProps = Gated & {
  readonly children?: ReactNode;
  /**
   * Attributes of the placeholder, which says what waits and who gets data, and has buttons that load the content once
   * or permit it.
   */
  readonly placeholder: PlaceholderAttributes;
};

/**
 * A gate for pages, with a placeholder: shows its children only while the visitor permits their category or service, or
 * loaded them once. On a server, and until the page knows the choice, the placeholder is empty.
 */
export function PlaceholderGate({ placeholder, children, ...gated }: PlaceholderGateProps): ReactNode {
  const [isOnce, setOnce] = useState(false);
  // At the place of the permitted children, so that permitting them does not load them again.
  const fallback = isOnce ? children : createElement(Placeholder, { placeholder, ...gated, setOnce });
  return createElement(Gate, { ...gated, fallback }, children);
}

type PlaceholderProps = Gated & {
  readonly placeholder: PlaceholderAttributes;
  readonly setOnce: (isLoaded: boolean) => void;
};

/** The part of the SDK for pages that a page loads from the service. */
type PlaceholderFile = Pick<typeof import('../../browser/src/placeholder.js'), 'drawPlaceholder'>;

function Placeholder({ placeholder, category = [], service, setOnce }: PlaceholderProps): ReactNode {
  const session = useSession();
  const host = useRef<HTMLElement>(null);
  useEffect(() => {
    // A server, which runs no effect, has no consent.
    const { consent } = session;
    let isEnded = false;
    let end = (): void => {
      isEnded = true;
    };
    consent.file<PlaceholderFile>('placeholder').then(({ drawPlaceholder }) => {
      if (!isEnded && host.current !== null) end = drawPlaceholder(consent, host.current, {}, setOnce);
    }, console.error);
    return () => end();
  }, [session, setOnce]);
  return createElement('consent-placeholder', {
    ...placeholder,
    'data-consent': [category].flat().join(' '),
    'data-consent-service': service && [service].flat().join(' '),
    ref: host,
  });
}
