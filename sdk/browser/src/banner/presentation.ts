import { firstLayerControls } from '../../../banner/first-layer.js';
import { LAYOUT_VERSION } from '../../../banner/layout-version.js';
import { optOutNotice } from '../../../banner/notice.js';
import { SETTINGS_CONTROLS } from '../../../banner/settings-layer.js';
import type { BannerView } from '../../../banner/view.js';
import type { NoticeOf, Presentation } from '../../../core/consent-body.js';
import { schemeOf } from './banner-view.js';

/** Name and version of this SDK; a test compares the version with `package.json`. */
export const SDK = 'browser 0.1.0';
const PHONE_PIXELS = 600;
const TABLET_PIXELS = 1024;

/** One layer that the visitor sees, from the moment in which it was shown. */
export interface ShownLayer {
  readonly layer: 'first' | 'settings';
  readonly view: BannerView;
  /** Whether the site's configuration states the look. */
  readonly isThemed: boolean;
  readonly preselected: NonNullable<Presentation['preselected']>;
  /** The notice that is shown with it, or undefined if there is none. */
  readonly notice: Presentation['notice'];
  /** The time by the page's own clock, in milliseconds. */
  readonly since: number;
}

/** The notice of the signal of the browser, as the banner shows it and the record of the signal states it. */
export const noticeOf: NoticeOf = ({ labels }, isConflict) => ({ notice: optOutNotice(labels, isConflict), sdk: SDK });

/**
 * States how the visitor was asked, for the record.
 * @param control the control that the visitor used
 * @param node root node of the layer
 */
export function presentationOf(
  { layer, view, isThemed, preselected, notice, since }: ShownLayer,
  control: string,
  node: HTMLElement,
): Presentation {
  const { language, appearance, account, rule_id: rule } = view;
  const width = innerWidth;
  const pixels = Math.min(
    ...[...node.querySelectorAll('p,button')].map((text) => Number.parseFloat(getComputedStyle(text).fontSize)),
  );
  const scheme = schemeOf(appearance);
  const isDark = scheme === 'auto' ? matchMedia('(prefers-color-scheme:dark)').matches : scheme === 'dark';
  return {
    layout: appearance.layout,
    layout_version: LAYOUT_VERSION,
    theme: isThemed ? 'site' : 'default',
    layer,
    language,
    preselected,
    controls: [...(layer === 'first' ? firstLayerControls(view) : SETTINGS_CONTROLS)],
    control,
    colour_scheme: isDark ? 'dark' : 'light',
    size_class: width < PHONE_PIXELS ? 'phone' : width < TABLET_PIXELS ? 'tablet' : 'desktop',
    // Sizes in pixels would make people distinguishable.
    text_size: pixels < 12 ? 'below_12' : pixels > 16 ? 'enlarged' : 'usual',
    notice,
    account,
    rule,
    elapsed_ms: Math.min(86_400_000, Math.round(performance.now() - since)),
    sdk: SDK,
  };
}
