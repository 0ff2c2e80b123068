import { type ButtonHTMLAttributes, createElement, type MouseEventHandler, type ReactNode, useEffect } from 'react';
import { type BannerOptions, showBanner } from '../../browser/src/banner/banner.js';
import { Consent } from '../../browser/src/consent.js';
import { type GoogleConsentTypes, speakGoogleConsentMode } from '../../browser/src/google-consent-mode.js';
import type { ConsentOptions } from '../../browser/src/options.js';
import { ConsentSourceProvider, useConsent } from './headless.js';
import { useSession } from './session-context.js';

export type { BannerOptions } from '../../browser/src/banner/banner.js';
export { gateContent } from '../../browser/src/gated-content.js';
export { GOOGLE_CONSENT_TYPES, type GoogleConsentTypes } from '../../browser/src/google-consent-mode.js';
export type { ConsentOptions } from '../../browser/src/options.js';
export * from './headless.js';

export interface ConsentProviderProps extends ConsentOptions {
  /** Google Consent Mode v2: `true` for the usual categories, or the types by category. */
  readonly googleConsentMode?: boolean | GoogleConsentTypes | undefined;
  /** Name of the data layer of Google's tags; if omitted, `dataLayer`. */
  readonly dataLayer?: string | undefined;
  readonly children?: ReactNode;
}

/**
 * Gives the consent of the visitor to the components inside. Put one provider around the whole page. The options of the
 * first render count. On a server, the provider only draws its children.
 */
export function ConsentProvider({
  children,
  googleConsentMode = false,
  dataLayer,
  ...options
}: ConsentProviderProps): ReactNode {
  const make = (): Consent => {
    const consent = new Consent(options);
    if (googleConsentMode !== false)
      speakGoogleConsentMode(consent, googleConsentMode === true ? undefined : googleConsentMode, dataLayer);
    return consent;
  };
  return createElement(ConsentSourceProvider, { consent: make }, children);
}

/**
 * Shows the accessible banner of the SDK while a choice is needed, and its settings. It is drawn at the end of the
 * body, in a shadow root, and takes no space at the place of this component.
 */
export function Banner({ nonce, settingsButton }: BannerOptions): null {
  const session = useSession();
  useEffect(
    () => session.show((consent) => showBanner(consent, { nonce, settingsButton })),
    [session, nonce, settingsButton],
  );
  return null;
}

/** A button that opens the settings, in which the visitor changes or withdraws the choice. */
export function SettingsButton({
  children,
  onClick,
  ...attributes
}: ButtonHTMLAttributes<HTMLButtonElement>): ReactNode {
  const session = useSession();
  const { texts } = useConsent();
  const label = children ?? texts.settings;
  const onPress: MouseEventHandler<HTMLButtonElement> = (event) => {
    onClick?.(event);
    if (!event.defaultPrevented && !session.hasBanner) session.openSettings();
  };
  // The banner opens its settings from every element with this attribute.
  const marked = { ...attributes, 'data-consent-settings': '', onClick: onPress };
  // Without a name, a button says nothing. The banner must find it, or it would show another one.
  if (label === undefined) return createElement('button', { type: 'button', ...marked, hidden: true });
  return createElement('button', { type: 'button', ...marked }, label);
}
