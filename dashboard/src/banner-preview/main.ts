// The preview of the banner: the SDK itself, in a frame with an origin of its own, whose requests
// are answered from the draft. Nothing is read from or sent to the service.
import { OPT_OUT_SIGNALS } from '../../../schemas/law/signals.js';
import { Consent, showBanner } from '../../../sdk/browser/src/index.js';
import { configurationOf, PREVIEW_READY, type PreviewDraft } from './preview-draft.js';

let draft: PreviewDraft | null = null;
let end: () => void = () => undefined;

// A frame without an origin has no cookies: reading them throws. The preview asks even if the browser sends Global
// Privacy Control.
for (const { property } of OPT_OUT_SIGNALS) Object.defineProperty(navigator, property, { get: () => false });
Object.defineProperty(document, 'cookie', { get: () => '', set: () => undefined });

window.fetch = async (input, init) => {
  const url = new URL(input instanceof Request ? input.url : String(input));
  // A choice gets no response, so nothing is recorded.
  if (draft === null || init?.method === 'POST') return new Promise(() => undefined);
  const body = await configurationOf(draft, url.searchParams.get('language') ?? draft.language);
  return new Response(JSON.stringify(body), { headers: { 'content-type': 'application/json' } });
};

window.addEventListener('message', ({ source, data }: MessageEvent<PreviewDraft>) => {
  if (source !== window.parent) return;
  draft = data;
  end();
  const { documentElement: page } = document;
  page.lang = draft.language;
  // As the page's own switch does (docs/sdk.md).
  const { scheme } = draft;
  if (scheme === undefined) delete page.dataset.consentScheme;
  else page.dataset.consentScheme = scheme;
  page.style.colorScheme = scheme ?? '';
  const consent = new Consent({
    baseUrl: 'https://preview.invalid',
    apiKey: 'preview',
    language: draft.language,
  });
  const banner = showBanner(consent);
  end = () => {
    banner.remove();
    consent.stop();
  };
  void consent.start();
});
window.parent.postMessage(PREVIEW_READY, '*');
