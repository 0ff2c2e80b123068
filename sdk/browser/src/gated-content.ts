import type { ConsentSource } from '../../core/consent.js';
import type { GateOptions } from './gate.js';

/** The part of `gate.ts` that a page loads from the service. */
type Gate = Pick<typeof import('./gate.js'), 'gateContent'>;

/**
 * Gates content as `gate.ts` does, whose file it loads from the service once the page has something that is gated.
 * Until then, and without the file, nothing that is gated runs or loads.
 * @returns a function that stops this
 */
export function gateContent(consent: ConsentSource, options?: GateOptions): () => void {
  let end = (): void => observer.disconnect();
  let isEnded = false;
  const look = (): void => {
    if (!document.querySelector('[data-consent-service],[data-consent-opt-out],[data-consent]')) return;
    observer.disconnect();
    consent.file<Gate>('gate').then((gate) => {
      if (!isEnded) end = gate.gateContent(consent, options);
    }, console.error);
  };
  const observer = new MutationObserver(look);
  observer.observe(document, { childList: true, subtree: true });
  look();
  return () => {
    isEnded = true;
    end();
  };
}
