import { DEFAULT_APPEARANCE } from './default-appearance.js';
import { type Drawn, type DrawnElement, draw } from './drawn.js';
import { firstLayer, firstLayerControls } from './first-layer.js';
import { LAYOUT_VERSION } from './layout-version.js';
import { SETTINGS_CONTROLS, settingsLayer } from './settings-layer.js';
import { drawnStyle } from './style.js';
import { firstLayerOfVersion2 } from './version-2/first-layer.js';
import { settingsLayerOfVersion2 } from './version-2/settings-layer.js';
import { SHEETS_OF_VERSION_2 } from './version-2/style.js';
import type { Appearance, BannerView, Label, Notice } from './view.js';

/** How the question was asked, as the presentation of a record states it. */
export interface StatedPresentation {
  readonly layout?: string | undefined;
  readonly layout_version?: number | undefined;
  /**
   * `default` is the look of the SDK, regardless of the site's configuration; `site` is the look that the configuration
   * states.
   */
  readonly theme?: string | undefined;
  readonly layer?: string | undefined;
  readonly controls?: readonly string[] | undefined;
  readonly colour_scheme?: 'light' | 'dark' | undefined;
  readonly size_class?: 'phone' | 'tablet' | 'desktop' | undefined;
  readonly control?: string | undefined;
  readonly notice?: Notice | undefined;
  readonly account?: Label | undefined;
}

/** The banner at rest, with its own style, for a shadow root. */
export interface Drawing {
  readonly content: DrawnElement;
  readonly style: string;
}

const LAYOUTS: readonly string[] = ['bar', 'box', 'dialog'] satisfies readonly Appearance['layout'][];
const CONTROLS: ReadonlySet<string> = new Set(['button', 'input', 'select']);

/**
 * Draws the banner as it was stated to have been shown. Its controls do nothing, the control that was used is marked,
 * and folded parts are open.
 * @param ticked categories that the person chose individually
 * @param services services that the person chose individually, where the configuration has switches for them
 * @returns null if no layout of this program has that name, version, layer, theme and controls, because a drawing would
 * then show something that the person did not see
 */
export function drawingOf(
  view: BannerView,
  stated: StatedPresentation,
  ticked: Readonly<Record<string, boolean>>,
  services: Readonly<Record<string, boolean>> = {},
): Drawing | null {
  const { layout = '', layout_version: version, theme, layer, colour_scheme, size_class, control, notice } = stated;
  const { account } = stated;
  if (!isLayout(layout) || (layer !== 'first' && layer !== 'settings')) return null;
  if (version !== LAYOUT_VERSION && version !== 2) return null;
  // The first layer and version 2 have no place for a notice, nor version 2 for the choice of an account.
  if (notice !== undefined && (version === 2 || layer === 'first')) return null;
  if (account !== undefined && version === 2) return null;
  const look = theme === 'default' ? DEFAULT_APPEARANCE : view.appearance;
  if (!hasControls(stated, layer === 'first' ? firstLayerControls(view) : SETTINGS_CONTROLS)) return null;
  if (theme !== undefined && !hasTheme(stated, theme, look)) return null;
  const appearance: Appearance = { ...look, layout };
  const shown = { ...view, appearance, account };
  const isFirst = layer === 'first';
  const contentOf = {
    2: () => (isFirst ? firstLayerOfVersion2(shown) : settingsLayerOfVersion2(shown, ticked)),
    3: () =>
      isFirst
        ? firstLayer(shown)
        : settingsLayer(shown, { ticked: { categories: ticked, services }, notice, proofPage: null }),
  } as const;
  const content = contentOf[version]();
  const surroundings = { scheme: colour_scheme ?? 'light', size: size_class ?? 'desktop' };
  const sheets = version === 2 ? SHEETS_OF_VERSION_2 : undefined;
  return { content: atRest(content, control), style: drawnStyle(appearance, surroundings, sheets) };
}

/** Whether the layer offers the stated controls: a question without a reject button must not be drawn with one. */
function hasControls({ controls, control }: StatedPresentation, offered: readonly string[]): boolean {
  const isOffered = control === undefined || offered.includes(control);
  return isOffered && (controls === undefined || controls.join() === offered.join());
}

/**
 * Whether the theme has the stated layout and colours. The look of a theme with another name is only known to its page.
 */
function hasTheme({ layout, colour_scheme: colours }: StatedPresentation, theme: string, look: Appearance): boolean {
  const hasColours = colours === undefined || look.scheme === 'auto' || look.scheme === colours;
  return (theme === 'site' || theme === 'default') && look.layout === layout && hasColours;
}

/**
 * The boxes that are known to have been ticked: those of a choice that was saved. Every other control decides on all
 * categories, regardless of the boxes.
 * @param categories categories of the record, or its services
 */
export function tickedBy(
  { control }: StatedPresentation,
  categories: Readonly<Record<string, boolean>> | null,
): Readonly<Record<string, boolean>> {
  return control === 'save' ? (categories ?? {}) : {};
}

function isLayout(name: string): name is Appearance['layout'] {
  return LAYOUTS.includes(name);
}

function atRest({ tag, attributes, children }: DrawnElement, used: string | undefined): DrawnElement {
  // Nothing in a drawing takes the focus or leads to another page.
  const { tabindex: _, href: __, ...kept } = attributes;
  return draw(
    tag,
    {
      ...kept,
      disabled: CONTROLS.has(tag),
      // A dialog that is open, and details that are unfolded.
      open: tag === 'dialog' || tag === 'details',
      'data-used': used !== undefined && attributes.part === used,
    },
    ...children.map((child: Drawn) => (typeof child === 'string' ? child : atRest(child, used))),
  );
}
