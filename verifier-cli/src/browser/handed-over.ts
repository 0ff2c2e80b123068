import { chooseFiles } from './choose-file.js';

/** Message that tells the opening page to send the file (dashboard/src/pages/evidence/open-verifier.ts). */
const READY = 'consent-verify ready';

/**
 * Takes a file from the page of the same origin that opened this one, as if the reader had chosen
 * it. A page of another origin can neither send one nor learn that this page is open.
 */
export function takeHandedOver(): void {
  const { opener }: { readonly opener: Window | null } = window;
  if (opener === null || location.origin === 'null') return;
  window.addEventListener('message', ({ source, origin, data }: MessageEvent<unknown>) => {
    if (source !== opener || origin !== location.origin || !(data instanceof File)) return;
    chooseFiles('package', [data]);
  });
  opener.postMessage(READY, location.origin);
}
