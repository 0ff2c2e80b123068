import type { ConsentSource } from '../../core/consent.js';

/** Google's consent types by category of the site. */
export type GoogleConsentTypes = Readonly<Record<string, readonly string[]>>;

/** The types of Consent Mode v2, by the usual names of categories. */
export const GOOGLE_CONSENT_TYPES: GoogleConsentTypes = {
  analytics: ['analytics_storage'],
  marketing: ['ad_storage', 'ad_user_data', 'ad_personalization'],
  preferences: ['functionality_storage', 'personalization_storage'],
};

/** How long Google's tags wait for the choice of an earlier page, in milliseconds. */
const WAIT_MS = 500;

/**
 * Speaks Google Consent Mode v2: everything is denied by default, and updated by each choice. An update without a
 * choice would end the wait of Google's tags (`wait_for_update`) with a refusal that nobody made; what runs by the rule
 * of the visitor's place is granted without one. The event
 * `consent-ledger-choice` follows each update, as a trigger of tags. Call it before Google's tags load.
 * @param types the categories that permit each of Google's types
 * @param layerName name of the page's data layer, for a tag manager that uses another name (`&l=`)
 * @returns a function that stops this
 */
export function speakGoogleConsentMode(
  consent: Pick<ConsentSource, 'allows' | 'subscribe'>,
  types: GoogleConsentTypes = GOOGLE_CONSENT_TYPES,
  layerName = 'dataLayer',
): () => void {
  const known: unknown = Reflect.get(globalThis, layerName);
  const layer: unknown[] = Array.isArray(known) ? known : [];
  Reflect.set(globalThis, layerName, layer);
  // Google's tags recognise the object `arguments`, and no array.
  function gtag(..._command: readonly unknown[]): void {
    // biome-ignore lint/complexity/noArguments: see above
    layer.push(arguments);
  }
  const signals = (isAllowed: (category: string) => boolean): Record<string, string> => {
    const stated = Object.entries(types).flatMap(([category, names]) =>
      names.map((name) => [name, isAllowed(category) ? 'granted' : 'denied'] as const),
    );
    return { ...Object.fromEntries(stated), security_storage: 'granted' };
  };
  const denied = signals(() => false);
  gtag('consent', 'default', { ...denied, wait_for_update: WAIT_MS });
  let last = '';
  return consent.subscribe(({ status, choice }) => {
    const update = signals((category) => consent.allows(category));
    const text = JSON.stringify(update);
    const isNothing = choice === null && last === '' && text === JSON.stringify(denied);
    // Until the choice of somebody who signs in was read, nothing is granted any more.
    if ((status === 'loading' && !last) || text === last || isNothing) return;
    last = text;
    gtag('consent', 'update', update);
    layer.push({ event: 'consent-ledger-choice' });
  });
}
