/**
 * The look that dashboard, pages of the service, verifier page and reports share. Text has a contrast of 4.5:1 or more
 * on each surface, controls of 3:1.
 */

/** Colours in light and dark. */
export const COLOURS = {
  page: ['#f4f6f4', '#0e1310'],
  surface: ['#ffffff', '#161c18'],
  raised: ['#ffffff', '#1c241f'],
  side: ['#ecf0ed', '#121815'],
  text: ['#16201a', '#e6ebe7'],
  muted: ['#4d5952', '#a8b3ac'],
  line: ['#d8ded9', '#2c3630'],
  control: ['#77827b', '#77857c'],
  accent: ['#155e3b', '#86d6a8'],
  'accent-strong': ['#0e4229', '#a8e6c2'],
  'accent-soft': ['#dff0e6', '#1d3528'],
  'on-accent': ['#ffffff', '#07160d'],
  good: ['#155e3b', '#86d6a8'],
  'good-soft': ['#dff0e6', '#1b3326'],
  'good-line': ['#1a7f45', '#5fbf8b'],
  warning: ['#6b4600', '#f0c674'],
  'warning-soft': ['#fff2d1', '#382c10'],
  'warning-line': ['#8a6100', '#e2b54c'],
  bad: ['#a01c16', '#ffa59d'],
  'bad-soft': ['#fde7e5', '#431d1a'],
  'bad-line': ['#b3261e', '#f08a7b'],
  'series-1': ['#1b7a4c', '#5fbf8b'],
  'series-2': ['#b3402f', '#f08a7b'],
  'series-3': ['#b07a00', '#e2b54c'],
  'series-4': ['#5b6b9e', '#97a7dd'],
} as const satisfies Record<string, readonly [light: string, dark: string]>;

const SHAPES = {
  radius: '10px',
  'radius-small': '8px',
  font: 'system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", sans-serif',
  mono: 'ui-monospace, "SFMono-Regular", Menlo, Consolas, "Noto Sans Mono", monospace',
} as const;

/** For readers who ask their device for more contrast, lines and secondary words are as strong as the text. */
const MORE_CONTRAST =
  '@media (prefers-contrast: more) { :root { --muted: var(--text); --line: var(--text); --control: var(--text); } }';

const declared = (values: readonly (readonly [name: string, value: string])[]) =>
  values.map(([name, value]) => `--${name}: ${value};`).join(' ');

/**
 * The tokens as custom properties of a page.
 * @param chosenBy what chooses between light and dark: `scheme`, the property `color-scheme`, which the dashboard sets;
 *   `device`, its setting, for pages that older browsers show too and that are light on paper
 * @returns a style sheet
 */
export function designTokens(chosenBy: 'scheme' | 'device'): string {
  if (chosenBy === 'scheme') {
    const both = Object.entries(COLOURS).map(
      ([name, [light, dark]]) => [name, `light-dark(${light}, ${dark})`] as const,
    );
    return `:root { color-scheme: light dark; ${declared([...both, ...Object.entries(SHAPES)])} }\n${MORE_CONTRAST}\n`;
  }
  const of = (at: 0 | 1) => Object.entries(COLOURS).map(([name, pair]) => [name, pair[at]] as const);
  return `:root { color-scheme: light; ${declared([...of(0), ...Object.entries(SHAPES)])} }
@media screen and (prefers-color-scheme: dark) { :root { color-scheme: dark; ${declared(of(1))} } }
${MORE_CONTRAST}
`;
}
