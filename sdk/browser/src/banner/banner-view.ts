import { DEFAULT_APPEARANCE } from '../../../banner/default-appearance.js';
import type { Appearance, BannerView, Label, Palette } from '../../../banner/view.js';
import type { Configuration } from '../../../core/answers.js';
import { cookiePolicyOf } from '../../../core/choice.js';
import { type Guard, isNumber, isText, objectOf } from '../../../core/guards.js';

/**
 * The banner of a configuration. If this SDK does not know the look, because the service is newer, the default look
 * applies.
 * @param account what the choice of the account means, or undefined if nobody is signed in
 */
export function viewOf(configuration: Configuration, account?: Label): BannerView {
  return {
    ...configuration,
    appearance: appearanceOf(configuration.appearance),
    policy: cookiePolicyOf(configuration)?.version ?? null,
    account,
  };
}

/** The look that a configuration states, or the default if this SDK does not know that look. */
export function appearanceOf(stated: unknown): Appearance {
  return isAppearance(stated) ? stated : DEFAULT_APPEARANCE;
}

/**
 * The colours of a look that has light and dark ones: those of the page's own switch, or else those that the browser
 * requests.
 */
export function schemeOf({ scheme }: Appearance): Appearance['scheme'] {
  const { consentScheme } = document.documentElement.dataset;
  return scheme === 'auto' && isScheme(consentScheme) ? consentScheme : scheme;
}

/** A colour becomes part of a style sheet, so nothing else is accepted. */
const isColour = (value: unknown): value is string => isText(value) && /^#[0-9a-f]{6}$/.test(value);
const oneOf =
  <T extends string>(...values: readonly T[]): Guard<T> =>
  (value): value is T =>
    values.some((one) => one === value);
const isScheme = oneOf('auto', 'light', 'dark');
const isPalette = objectOf<Palette>({
  background: isColour,
  text: isColour,
  border: isColour,
  accept: isColour,
  on_accept: isColour,
  reject: isColour,
  on_reject: isColour,
});
const isAppearance = objectOf<Appearance>({
  layout: oneOf('bar', 'box', 'dialog'),
  side: oneOf('start', 'end'),
  scheme: isScheme,
  light: isPalette,
  dark: isPalette,
  radius: isNumber,
  font: oneOf('system', 'serif', 'monospace'),
});
