import type { ConsentSource } from '../../core/consent.js';
import { gatedScripts } from './gated-scripts.js';
import type { SlotOptions } from './placeholder/slot.js';

const EMBEDDED = '[data-consent-src],[data-consent-loaded]';

export interface GateOptions extends SlotOptions {
  /** Whether the page reloads after a withdrawal, if scripts ran that the withdrawal ends. */
  readonly reload?: boolean | undefined;
}

/**
 * Runs scripts and loads embedded content once the visitor permits their categories.
 *
 * - `<script type="text/plain" data-consent="analytics" src="…">` runs when `analytics` is permitted.
 * - `<iframe data-consent="marketing" data-consent-src="…">` (or `img`) loads then.
 *
 * `link` and `object` also load by `data-consent-src`. Several categories are separated by spaces; all of them must be
 * permitted. With `data-consent-service`, the services that it names decide instead of the categories. Until then, an
 * element with `data-consent-placeholder` is replaced by the placeholder of `placeholder.ts`, a separate file, as is
 * `opt-out.ts` for links with `data-consent-opt-out`. After a withdrawal, embedded content is unloaded at once. A script that has run cannot be undone: it
 * ends with the page, which `reload` reloads.
 * @returns a function that stops this
 */
export function gateContent(consent: ConsentSource, options: GateOptions = {}): () => void {
  const isAllowed = ({ dataset }: HTMLElement): boolean => {
    const { consent: categories = '', consentService: services } = dataset;
    const rule = services === undefined ? 'allows' : 'allowsService';
    return (services ?? categories).match(/\S+/g)?.every((key) => consent[rule](key)) === true;
  };
  /** The scripts that ran. */
  const ran: HTMLElement[] = [];
  const runScripts = gatedScripts(isAllowed, (script) => ran.push(script));
  const once = new WeakSet<HTMLElement>();
  let placeholders: Promise<() => void> | undefined;
  let optOut: Promise<() => void> | undefined;
  const release = (): void => {
    if (document.querySelector('[data-consent-placeholder]'))
      placeholders ??= import('./placeholder.js').then((file) =>
        file.showPlaceholders(consent, options, { once, release }),
      );
    if (document.querySelector('[data-consent-opt-out]'))
      optOut ??= import('./opt-out.js').then((file) => file.offerOptOut(consent, options));
    for (const element of document.querySelectorAll<HTMLElement>(EMBEDDED)) {
      const isOpen = once.has(element) || isAllowed(element);
      if (isOpen && element.dataset.consentSrc !== undefined) load(element);
      if (!isOpen && element.dataset.consentLoaded !== undefined) unload(element);
    }
    runScripts();
    // Consents that wait to be sent are sent by the next page.
    if (options.reload && !ran.every(isAllowed)) location.reload();
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
    placeholders?.then((end) => end());
    optOut?.then((end) => end());
  };
}

function load(element: HTMLElement): void {
  const source = element.dataset.consentSrc;
  delete element.dataset.consentSrc;
  element.dataset.consentLoaded = source;
  // Filters of HTML that users write check addresses in `src`, and let data attributes pass. Browsers
  // skip control characters in front of a scheme, and line breaks and tabs in it.
  if (source !== undefined && !/^[^\w/]*j[^:/]*:/i.test(source)) element.setAttribute(addressOf(element), source);
}

/** Ends what was embedded: a video stops, a picture goes. It loads again if the visitor permits it again. */
function unload(element: HTMLElement): void {
  element.dataset.consentSrc = element.dataset.consentLoaded;
  delete element.dataset.consentLoaded;
  element.removeAttribute(addressOf(element));
  // A frame keeps its page when the attribute is removed. A new entry of the history would lead back to that page.
  if (element instanceof HTMLIFrameElement) element.contentWindow?.location.replace('about:blank');
}

/** The attribute that names what an element loads. */
function addressOf({ localName }: HTMLElement): string {
  return localName === 'link' ? 'href' : localName === 'object' ? 'data' : 'src';
}
