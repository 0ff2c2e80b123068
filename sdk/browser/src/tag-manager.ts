import type { Started } from './start.js';

declare global {
  interface Window {
    consentLedger?: Started;
    /** What the template for Google Tag Manager calls. */
    consentLedgerTagManager?: { readonly start: typeof start };
  }
}

// A module does not know its element.
const own = document.currentScript instanceof HTMLScriptElement ? document.currentScript : undefined;

/**
 * Loads `consent.js` from the place of this file, and tells a tag manager each choice. A tag manager cannot give
 * attributes to a script that it injects, so this file makes the element.
 * @param attributes of the element by their names in `dataset`, such as `apiKey`; empty ones are left out
 * @param categories those whose answers the tag manager wants
 * @param listener is called with each answer, the first time with the choice of an earlier page, if there is one; and
 * with refusals if the script does not load, because nobody could refuse then
 */
function start(
  attributes: Readonly<Record<string, string | undefined>>,
  categories: readonly string[],
  listener: (permitted: Readonly<Record<string, boolean>>) => void,
): void {
  let last = '';
  const answers = (isPermitted: (category: string) => boolean): Readonly<Record<string, boolean>> =>
    Object.fromEntries(categories.map((key) => [key, isPermitted(key)]));
  const follow = (): void => {
    const consent = window.consentLedger?.consent;
    consent?.subscribe(({ status, choice, configuration }) => {
      // An answer without a choice would be a refusal that nobody made. After a choice it is the end of that choice; the
      // signal of the browser and an opt-out of sale end what the tag manager may have as granted by default, and the
      // rule of the place permits what it may have as denied.
      const runs = configuration?.categories.some(({ key, rule }) => rule !== undefined && consent.allows(key));
      const isAnswer = choice !== null || last !== '' || status === 'signalled' || consent.isOptedOutOfSale || runs;
      if (status === 'loading' || !isAnswer) return;
      const permitted = answers((key) => consent.allows(key));
      const text = JSON.stringify(permitted);
      if (text === last) return;
      last = text;
      listener(permitted);
    });
  };
  if (window.consentLedger?.consent !== undefined) {
    follow();
    return;
  }
  const script = document.createElement('script');
  for (const [name, value] of Object.entries(attributes)) if (value) script.dataset[name] = value;
  script.nonce = own?.nonce ?? '';
  script.src = new URL('consent.js', own?.src).href;
  script.onload = follow;
  script.onerror = () => listener(answers(() => false));
  document.head.append(script);
}

window.consentLedgerTagManager = { start };
