// biome-ignore-all assist/source/organizeImports: gzip sees 32 KiB back; with what is alike near, the bundle is 240 bytes smaller
import type { GateOptions } from './gate.js';
import type { ConsentOptions } from './options.js';
import { type GoogleConsentTypes, speakGoogleConsentMode } from './google-consent-mode.js';
import { gateContent } from './gated-content.js';
import { Consent } from './consent.js';
import { noticeOf } from './banner/presentation.js';
import { type Banner, type BannerOptions, showBanner } from './banner/banner.js';

export interface StartOptions extends ConsentOptions, BannerOptions, GateOptions {
  /** Google Consent Mode v2: `true` for the usual categories, or the types by category. */
  readonly googleConsentMode?: boolean | GoogleConsentTypes | undefined;
  /** Name of the data layer of Google's tags; if omitted, `dataLayer`. */
  readonly dataLayer?: string | undefined;
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
  const { googleConsentMode: google, dataLayer } = options;
  // This comes first, because Google's tags read the default when they load.
  if (google) speakGoogleConsentMode(consent, google === true ? undefined : google, dataLayer);
  // The link of the dashboard to a draft: that file shows it, and nothing starts, so that nothing gated runs.
  if (location.hash.startsWith('#consent-draft=')) consent.file('draft');
  else {
    gateContent(consent, options);
    consent.showsNotice(noticeOf);
    consent.start();
  }
  return { consent, banner: parsed().then(() => showBanner(consent, options)) };
}

function parsed(): Promise<unknown> {
  return new Promise((resolve) => {
    if (document.readyState === 'loading') document.addEventListener('DOMContentLoaded', resolve);
    else resolve(null);
  });
}
