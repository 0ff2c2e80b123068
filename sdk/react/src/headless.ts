import { createElement, type ReactNode, useCallback, useMemo, useState, useSyncExternalStore } from 'react';
import type { Acceptance, KnownCategory } from '../../core/answers.js';
import type { Categories } from '../../core/choice.js';
import type { ConsentSource } from '../../core/consent.js';
import type { Presentation } from '../../core/consent-body.js';
import type { ConsentState } from '../../core/consent-state.js';
import { NOTHING_KNOWN, Session } from './session.js';
import { SessionContext, useSession } from './session-context.js';

export type {
  Acceptance,
  Configuration,
  KnownCategory,
  KnownDocument,
  KnownService,
  ShownDocument,
} from '../../core/answers.js';
export type { Categories, Choice } from '../../core/choice.js';
export type { ConsentSource } from '../../core/consent.js';
export type { Presentation } from '../../core/consent-body.js';
export type { ConsentState, ConsentStatus } from '../../core/consent-state.js';
export { type ErrorCode, ServiceError } from '../../shared/service-error.js';

/** The consent as a component sees it, and what it can do. */
export interface ConsentValue extends ConsentState {
  /**
   * The question that is due: `first` while a choice is needed, `settings` after `openSettings`, or null if nothing is
   * to be asked. For a page that draws its own parts, without `<Banner>`.
   */
  readonly layer: 'first' | 'settings' | null;
  /** The categories that the site offers, with their texts. Empty until they are known. */
  readonly categories: readonly KnownCategory[];
  /** The site's texts and labels by name, for example `title`, `text`, `accept`, `reject`, `settings`, `save`. */
  readonly texts: Readonly<Record<string, string>>;
  /** Whether the visitor permits a category. False until the choice is known. */
  readonly allows: (category: string) => boolean;
  /** Whether the visitor permits a service: by its own switch or, without one, by its category. False as `allows`. */
  readonly allowsService: (service: string) => boolean;
  /**
   * Records a choice, which counts at once. The promise rejects with `UNAVAILABLE` before the
   * configuration is known. @param presentation how the page asked, for the record
   * @param services the answers for services, where the site has switches for them
   */
  readonly choose: (
    categories: Categories,
    presentation?: Presentation,
    services?: Categories,
  ) => Promise<Acceptance | undefined>;
  /** Permits every category. */
  readonly acceptAll: (presentation?: Presentation) => Promise<Acceptance | undefined>;
  /** Refuses every optional category, and objects to those that are exempt from consent in the visitor's place. */
  readonly rejectAll: (presentation?: Presentation) => Promise<Acceptance | undefined>;
  /** Withdraws what was permitted. This is recorded as `withdrawn`, or as `rejected` if nothing was permitted. */
  readonly withdraw: (presentation?: Presentation) => Promise<Acceptance | undefined>;
  /** Opens the settings of `<Banner>`. Without a `<Banner>`, `layer` becomes `settings`. */
  readonly openSettings: () => void;
  /** Closes the page's own settings without a choice. */
  readonly closeSettings: () => void;
  /** The consent itself: documents, opt-outs, languages, records. In the browser and in apps only. */
  readonly consent: () => ConsentSource;
}

export interface ConsentSourceProps {
  /** A consent that the app made, for example of `@consent-ledger/mobile`. The provider starts and stops it. */
  readonly consent: () => ConsentSource;
  readonly children?: ReactNode;
}

/**
 * Gives a consent to the components inside. It is made in the browser or the app, never on a server, and
 * ends with the provider.
 */
export function ConsentSourceProvider({ consent, children }: ConsentSourceProps): ReactNode {
  const [session] = useState(() => new Session(consent));
  return createElement(SessionContext.Provider, { value: session }, createElement(Subscriber), children);
}

/** Keeps the consent of the provider, even if no other component reads it. */
function Subscriber(): ReactNode {
  useSnapshot(useSession());
  return null;
}

function useSnapshot({ subscribe, snapshot }: Session) {
  return useSyncExternalStore(subscribe, snapshot, nothingKnown);
}

/** On the server, and while the browser takes over what the server drew. */
const nothingKnown = () => NOTHING_KNOWN;

/**
 * The consent of the provider around the component. The component is drawn again after every change.
 * @throws Error outside of a provider
 */
export function useConsent(): ConsentValue {
  const session = useSession();
  const snapshot = useSnapshot(session);
  const act = useCallback(
    (choice: (consent: ConsentSource) => Promise<Acceptance | undefined>): Promise<Acceptance | undefined> => {
      try {
        const answer = choice(session.consent);
        session.closeSettings();
        return answer;
      } catch (error) {
        // An error that an event handler throws would end a React Native app.
        return Promise.reject(error);
      }
    },
    [session],
  );
  // The same function after every change, so that an effect that signs somebody in does not run again for it.
  const consent = useCallback(() => session.consent, [session]);
  return useMemo(() => {
    const { state, isOpen } = snapshot;
    const { status, configuration } = state;
    const rejectAll: ConsentValue['rejectAll'] = (presentation) => act((consent) => consent.rejectAll(presentation));
    return {
      ...state,
      // Without texts there is nothing to ask.
      layer: configuration === null ? null : isOpen ? 'settings' : status === 'needed' ? 'first' : null,
      categories: configuration?.categories ?? [],
      texts: textsOf(configuration),
      allows: (category) => snapshot !== NOTHING_KNOWN && session.consent.allows(category),
      allowsService: (service) => snapshot !== NOTHING_KNOWN && session.consent.allowsService(service),
      choose: (...answers) => act((consent) => consent.choose(...answers)),
      acceptAll: (presentation) => act((consent) => consent.acceptAll(presentation)),
      rejectAll,
      withdraw: rejectAll,
      openSettings: () => session.openSettings(),
      closeSettings: () => session.closeSettings(),
      consent,
    };
  }, [session, snapshot, act, consent]);
}

function textsOf(configuration: ConsentState['configuration']): Readonly<Record<string, string>> {
  if (configuration === null) return {};
  const labels = Object.entries(configuration.labels).map(([name, { text }]) => [name, text]);
  return { ...Object.fromEntries(labels), ...configuration.banner };
}

type Keys = string | readonly string[];

/** What a gate waits for: a category or a service of the site. If there are several, all must be permitted. */
export type Gated =
  | { readonly category: Keys; readonly service?: undefined }
  /** With services, their own switches decide, and a category beside them does not. */
  | { readonly category?: Keys | undefined; readonly service: Keys };

export type GateProps = Gated & {
  /** Shown instead on the server, and while the visitor does not permit the category or the service. */
  readonly fallback?: ReactNode;
  readonly children?: ReactNode;
};

/** Shows its children only while the visitor permits their category or service. They are removed at a withdrawal. */
export function Gate({ category = [], service, fallback = null, children }: GateProps): ReactNode {
  const { allows, allowsService } = useConsent();
  const keys = [service ?? category].flat();
  return keys.length > 0 && keys.every(service === undefined ? allows : allowsService) ? children : fallback;
}
