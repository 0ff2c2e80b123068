import { type Started, startConsent } from './start.js';

declare global {
  interface Window {
    /** The SDK that the script started; absent before the script runs. */
    consentLedger?: Started;
  }
}

/**
 * The entry of a `<script>` element. Its attributes are the options: `data-api-key`, and if needed
 * `data-base-url` (the origin of the script if absent), `data-language`, `data-visitor-id`,
 * `data-approval-token`, `data-cookie-domain`, `data-renew-url`, `data-google-consent-mode` and
 * `data-settings-button` (`false`).
 */
// A module, or a script that another one evaluates, does not know its element.
const script = document.currentScript ?? document.querySelector('script[data-api-key]');
if (window.consentLedger?.consent !== undefined) console.warn('Consent Ledger: the page includes the script twice.');
else if (!(script instanceof HTMLScriptElement) || script.dataset.apiKey === undefined)
  console.error('Consent Ledger: no script element has data-api-key.');
else {
  const { apiKey, baseUrl, googleConsentMode, settingsButton, configurationMaxAge: _, ...texts } = script.dataset;
  window.consentLedger = startConsent({
    ...texts,
    apiKey,
    baseUrl: baseUrl ?? new URL(script.src).origin,
    googleConsentMode: googleConsentMode !== undefined && googleConsentMode !== 'false',
    settingsButton: settingsButton === undefined ? undefined : settingsButton !== 'false',
    nonce: script.nonce,
  });
}
