import { type Banner, type BannerOptions, showBanner } from './banner/banner.js';
import { Consent } from './consent.js';
import { gateContent } from './gate.js';
import { type GoogleConsentTypes, speakGoogleConsentMode } from './google-consent-mode.js';
import type { ConsentOptions } from './options.js';

export interface StartOptions extends ConsentOptions, BannerOptions {
  /** Google Consent Mode v2: `true` for the usual categories, or the types by category. */
  readonly googleConsentMode?: boolean | GoogleConsentTypes | undefined;
}

/** A consent with its banner on the page. */
export interface Started {
  readonly consent: Consent;
  /** Resolved when the banner is on the page. */
  readonly banner: Promise<Banner>;
}

/**
 * Starts the SDK: reads the configuration, shows the banner while a choice is needed, runs gated
 * content, and tells Google's tags.
 */
export function startConsent(options: StartOptions): Started {
  const consent = new Consent(options);
  const { googleConsentMode: google = false } = options;
  // Before anything else: Google's tags read the default when they load.
  if (google !== false) speakGoogleConsentMode(consent, google === true ? undefined : google);
  gateContent(consent);
  consent.start();
  return { consent, banner: parsed().then(() => showBanner(consent, options)) };
}

function parsed(): Promise<void> {
  if (document.readyState !== 'loading') return Promise.resolve();
  return new Promise((resolve) => document.addEventListener('DOMContentLoaded', () => resolve(), { once: true }));
}
