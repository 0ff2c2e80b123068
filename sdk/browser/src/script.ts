import { type Started, startConsent } from './start.js';

declare global {
  interface Window {
    /** The SDK that the script started. Absent before the script runs. */
    consentLedger?: Started;
  }
}

/**
 * The entry of a `<script>` element. Its attributes are the options: `data-api-key`, and if needed `data-base-url` (if
 * absent, the origin of the script), `data-language`, `data-visitor-id`, `data-approval-token`, `data-cookie-domain`,
 * `data-renew-url`, `data-google-consent-mode`, `data-data-layer`, `data-reload`, `data-settings-button` (`false`) and
 * `data-consent-once` (`false`).
 */
// A module, or a script that another script evaluates, does not know its element.
const script = document.currentScript ?? document.querySelector('script[data-api-key]');
if (window.consentLedger?.consent !== undefined) console.warn('Consent Ledger: the script is there twice.');
else if (!(script instanceof HTMLScriptElement) || script.dataset.apiKey === undefined)
  console.error('Consent Ledger: no script has data-api-key.');
else {
  const { apiKey, baseUrl, googleConsentMode, settingsButton, reload, ...texts } = script.dataset;
  const isOn = (text: string | undefined): boolean => text !== undefined && text !== 'false';
  window.consentLedger = startConsent({
    ...texts,
    apiKey,
    baseUrl: baseUrl ?? new URL(script.src).origin,
    googleConsentMode: isOn(googleConsentMode),
    settingsButton: settingsButton === undefined ? undefined : isOn(settingsButton),
    nonce: script.nonce,
    reload: isOn(reload),
  });
}
