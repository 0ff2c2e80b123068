import type { ConsentSource } from '../../core/consent.js';
import { GatedScripts } from './gated-scripts.js';

const EMBEDDED = '[data-consent-src]';

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
export function gateContent(consent: ConsentSource): () => void {
  const isPermitted = ({ dataset }: HTMLElement): boolean => {
    const categories = (dataset.consent ?? '').split(/\s+/).filter((key) => key !== '');
    return categories.length > 0 && categories.every((key) => consent.allows(key));
  };
  const scripts = new GatedScripts(isPermitted);
  const release = (): void => {
    for (const element of document.querySelectorAll<HTMLElement>(EMBEDDED)) if (isPermitted(element)) load(element);
    scripts.run();
  };
  const unsubscribe = consent.subscribe(release);
  // Elements that the page adds later.
  const observer = new MutationObserver(release);
  observer.observe(document, { childList: true, subtree: true });
  document.addEventListener('readystatechange', release);
  return () => {
    unsubscribe();
    observer.disconnect();
    document.removeEventListener('readystatechange', release);
  };
}

function load(element: HTMLElement): void {
  const source = element.dataset.consentSrc;
  delete element.dataset.consentSrc;
  // Filters of HTML that users write check addresses in `src`, and let data attributes pass. Browsers
  // skip control characters in front of a scheme, and line breaks and tabs in it.
  if (source !== undefined && !/^[^\w/]*j[^:/]*:/i.test(source)) element.setAttribute('src', source);
}
