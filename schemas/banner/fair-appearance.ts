import type { Appearance, Palette } from './appearance.js';
import { contrastOf } from './contrast.js';

/** Contrast of text (WCAG 2.2, 1.4.3 AA). */
const TEXT_CONTRAST = 4.5;
/** Contrast of controls with their surroundings (WCAG 2.2, 1.4.11 AA). */
const CONTROL_CONTRAST = 3;
/** Smallest share of the accept button's contrast that the reject button may have. */
const FAIR_SHARE = 0.8;

/** Rules that a theme must keep, each with its source. */
export const RULE_SOURCES = {
  'text-contrast': 'WCAG 2.2, 1.4.3 (AA)',
  'button-contrast': 'WCAG 2.2, 1.4.11 (AA)',
  'button-text-contrast': 'WCAG 2.2, 1.4.3 (AA)',
  'pale-reject':
    'EDPB guidelines 03/2022 on deceptive design patterns, “Hidden in plain sight”; EDPB, report of the Cookie Banner Taskforce (2023), types E and F; CNIL, recommendation of 17 September 2020',
} as const;
export type FairnessRule = keyof typeof RULE_SOURCES;

/** A theme that treats the person unfairly. */
export interface UnfairTheme {
  /** Path in the configuration, for example `appearance.light.reject`. */
  readonly field: string;
  readonly rule: FairnessRule;
  /** Contrast that the theme has, for example `2.9`. */
  readonly found: string;
  /** Least contrast that it needs. */
  readonly least: string;
  readonly message: string;
}

/**
 * Lists what is unfair or unreadable in a theme. Some unfairness needs no rule, because no theme can express it: the
 * accept and reject buttons always have the same size and layer, nothing optional is preselected, and every layout has
 * a reject button.
 */
export function unfairThemes({ scheme, light, dark }: Appearance): readonly UnfairTheme[] {
  return [
    ...(scheme === 'dark' ? [] : unfairColours('appearance.light', light)),
    ...(scheme === 'light' ? [] : unfairColours('appearance.dark', dark)),
  ];
}

function* unfairColours(path: string, palette: Palette): Generator<UnfairTheme> {
  const { background, text, accept, on_accept: onAccept, reject, on_reject: onReject } = palette;
  const tooPale = (member: string, rule: FairnessRule, found: number, least: number, whose: string): UnfairTheme[] =>
    found >= least
      ? []
      : [
          {
            field: `${path}.${member}`,
            rule,
            found: rounded(found),
            least: rounded(least),
            message: `${whose} has a contrast of ${rounded(found)}:1 and needs ${rounded(least)}:1 (${RULE_SOURCES[rule]})`,
          },
        ];
  const acceptStands = contrastOf(accept, background);
  const rejectStands = contrastOf(reject, background);
  yield* tooPale('text', 'text-contrast', contrastOf(text, background), TEXT_CONTRAST, 'the text on the background');
  yield* tooPale(
    'accept',
    'button-contrast',
    acceptStands,
    CONTROL_CONTRAST,
    'the accept button against the background',
  );
  yield* tooPale(
    'reject',
    'button-contrast',
    rejectStands,
    CONTROL_CONTRAST,
    'the reject button against the background',
  );
  yield* tooPale(
    'on_accept',
    'button-text-contrast',
    contrastOf(onAccept, accept),
    TEXT_CONTRAST,
    'the text on the accept button',
  );
  yield* tooPale(
    'on_reject',
    'button-text-contrast',
    contrastOf(onReject, reject),
    TEXT_CONTRAST,
    'the text on the reject button',
  );
  yield* tooPale(
    'reject',
    'pale-reject',
    rejectStands,
    acceptStands * FAIR_SHARE,
    'the reject button stands out less than the accept button: it',
  );
}

/** Rounds down to one decimal place, so that a contrast just below a limit is not printed as the limit. */
function rounded(ratio: number): string {
  return (Math.floor(ratio * 10) / 10).toFixed(1);
}
