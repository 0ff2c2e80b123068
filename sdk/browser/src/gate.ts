import type { Consent } from './consent.js';

const SELECTOR = 'script[type="text/plain"][data-consent], [data-consent-src]';

/**
 * Runs scripts and loads embedded content once the visitor permits their categories.
 *
 * - `<script type="text/plain" data-consent="analytics" src="…">` runs when `analytics` is permitted.
 * - `<iframe data-consent="marketing" data-consent-src="…">` (or `img`) loads then.
 *
 * Several categories are separated by spaces; all of them must be permitted. A script that has run
 * cannot be taken back: it ends with the page.
 * @returns a function that ends this
 */
export function gateContent(consent: Consent): () => void {
  const release = (): void => {
    for (const element of document.querySelectorAll<HTMLElement>(SELECTOR)) {
      const categories = (element.dataset.consent ?? '').split(/\s+/).filter((key) => key !== '');
      if (categories.length > 0 && categories.every((key) => consent.allows(key))) load(element);
    }
  };
  const unsubscribe = consent.subscribe(release);
  // Elements that the page adds later.
  const observer = new MutationObserver(release);
  observer.observe(document, { childList: true, subtree: true });
  return () => {
    unsubscribe();
    observer.disconnect();
  };
}

function load(element: HTMLElement): void {
  if (element instanceof HTMLScriptElement) {
    // A browser runs a script once, when it is inserted with a type that it knows.
    const script = document.createElement('script');
    for (const { name, value } of element.attributes) {
      if (name !== 'type' && name !== 'data-consent') script.setAttribute(name, value);
    }
    const { type } = element.dataset;
    if (type !== undefined) script.type = type;
    // Browsers hide the attribute from scripts, but not the property.
    script.nonce = element.nonce;
    script.async = element.async;
    script.text = element.text;
    element.replaceWith(script);
    return;
  }
  const source = element.dataset.consentSrc;
  delete element.dataset.consentSrc;
  // Filters of HTML that users write check addresses in `src`, and let data attributes pass. Browsers
  // skip control characters in front of a scheme, and line breaks and tabs in it.
  if (source !== undefined && !/^[^\w/]*j[^:/]*:/i.test(source)) element.setAttribute('src', source);
}
