import { labelOf } from '../../banner/controls.js';
import type { Configuration } from '../../core/answers.js';
import { viewOf } from './banner/banner-view.js';
import { OptOutDialog } from './opt-out/dialog.js';
import { optOutIcon } from './opt-out/icon.js';
import type { OptOutSource } from './opt-out/source.js';

const LINK = '[data-consent-opt-out]';
/** Documents that an opt-out can refer to. */
const NOTICES: readonly string[] = ['do_not_sell', 'cookie_policy'];

/**
 * Turns each link or button with `data-consent-opt-out` into "Your Privacy Choices" (CCPA regulations, §7015), which
 * opens the opt-out of sale and sharing. As long as nothing can be recorded, the element is as the page made it, and a
 * link leads to its own address.
 * @param options `nonce` of the page's content security policy
 * @returns a function that stops this
 */
export function offerOptOut(consent: OptOutSource, { nonce }: { readonly nonce?: string | undefined }): () => void {
  const dialog = new OptOutDialog(consent, nonce);
  const update = (): void => {
    const configuration = recordable(consent);
    if (configuration === null) return;
    for (const link of document.querySelectorAll<HTMLElement>(LINK)) label(link, configuration);
    dialog.update();
  };
  const onClick = (event: MouseEvent): void => {
    const link = event.target instanceof Element ? event.target.closest<HTMLElement>(LINK) : null;
    const configuration = recordable(consent);
    // Another tab or window is for the address of the link.
    if (link === null || configuration === null || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    dialog.open(configuration, link);
  };
  const unsubscribe = consent.subscribe(update);
  const observer = new MutationObserver(update);
  observer.observe(document, { childList: true, subtree: true, attributeFilter: ['data-consent-opt-out'] });
  // Before the listeners of the page, which may navigate by themselves.
  addEventListener('click', onClick, true);
  return () => {
    unsubscribe();
    observer.disconnect();
    removeEventListener('click', onClick, true);
    dialog.close();
  };
}

/** The configuration, if an opt-out can be recorded now. */
function recordable({ state: { configuration, status } }: OptOutSource): Configuration | null {
  const isKnown = status !== 'loading' && status !== 'unavailable';
  return isKnown && configuration?.documents.some(({ kind }) => NOTICES.includes(kind)) ? configuration : null;
}

/** Gives a link the words and the icon, again if the page or another language replaced them. */
function label(link: HTMLElement, configuration: Configuration): void {
  const { text, language } = labelOf(viewOf(configuration), 'privacy_choices');
  if (link.querySelector('svg') !== null && link.textContent?.trim() === text) return;
  link.lang = language;
  link.setAttribute('aria-haspopup', 'dialog');
  link.replaceChildren(optOutIcon(), ` ${text}`);
}
