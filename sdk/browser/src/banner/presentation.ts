import type { Presentation } from '../../../core/consent-body.js';

/** Changes with every change of what the banner shows, beside its texts. */
const LAYOUT_VERSION = 1;
/** Name and version of this SDK; a test compares the version with `package.json`. */
const SDK = 'browser 0.1.0';
const PHONE_PIXELS = 600;
const TABLET_PIXELS = 1024;

/** One layer that the visitor sees, from the moment in which it was shown. */
export interface ShownLayer {
  readonly layer: 'first' | 'settings';
  readonly language: string;
  /** Controls with which the visitor can decide, in their order. */
  readonly controls: readonly string[];
  readonly preselected: NonNullable<Presentation['preselected']>;
  /** Time of the page's own clock, in milliseconds. */
  readonly since: number;
}

/** States how the visitor was asked, for the record. @param control that the visitor used */
export function presentationOf({ since, controls, ...shown }: ShownLayer, control: string): Presentation {
  const width = innerWidth;
  return {
    layout: 'bar',
    layout_version: LAYOUT_VERSION,
    theme: 'default',
    ...shown,
    controls: [...controls],
    control,
    colour_scheme: matchMedia('(prefers-color-scheme:dark)').matches ? 'dark' : 'light',
    size_class: width < PHONE_PIXELS ? 'phone' : width < TABLET_PIXELS ? 'tablet' : 'desktop',
    elapsed_ms: Math.min(86_400_000, Math.round(performance.now() - since)),
    sdk: SDK,
  };
}
