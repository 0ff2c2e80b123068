import { FIRST_LAYER_CONTROLS } from '../../../banner/first-layer.js';
import { LAYOUT_VERSION } from '../../../banner/layout-version.js';
import { SETTINGS_CONTROLS } from '../../../banner/settings-layer.js';
import type { BannerView } from '../../../banner/view.js';
import type { Presentation } from '../../../core/consent-body.js';

/** Name and version of this SDK; a test compares the version with `package.json`. */
const SDK = 'browser 0.1.0';
const PHONE_PIXELS = 600;
const TABLET_PIXELS = 1024;

/** One layer that the visitor sees, from the moment in which it was shown. */
export interface ShownLayer {
  readonly layer: 'first' | 'settings';
  readonly view: BannerView;
  /** Whether the site's configuration states the look. */
  readonly isThemed: boolean;
  readonly preselected: NonNullable<Presentation['preselected']>;
  /** Time of the page's own clock, in milliseconds. */
  readonly since: number;
}

/** States how the visitor was asked, for the record. @param control that the visitor used */
export function presentationOf(
  { layer, view: { language, appearance }, isThemed, preselected, since }: ShownLayer,
  control: string,
): Presentation {
  const width = innerWidth;
  const { layout, scheme } = appearance;
  const isDark = scheme === 'auto' ? matchMedia('(prefers-color-scheme:dark)').matches : scheme === 'dark';
  return {
    layout,
    layout_version: LAYOUT_VERSION,
    theme: isThemed ? 'site' : 'default',
    layer,
    language,
    preselected,
    controls: [...(layer === 'first' ? FIRST_LAYER_CONTROLS : SETTINGS_CONTROLS)],
    control,
    colour_scheme: isDark ? 'dark' : 'light',
    size_class: width < PHONE_PIXELS ? 'phone' : width < TABLET_PIXELS ? 'tablet' : 'desktop',
    elapsed_ms: Math.min(86_400_000, Math.round(performance.now() - since)),
    sdk: SDK,
  };
}
