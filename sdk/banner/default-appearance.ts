import type { Appearance, Palette } from './view.js';

/** Both buttons have the same colours. */
function palette(background: string, text: string, border: string, accept: string, on_accept: string): Palette {
  return { background, text, border, accept, on_accept, reject: accept, on_reject: on_accept };
}

/** The look of the banner if the site states none. Contrast is at least 7:1 for text. */
export const DEFAULT_APPEARANCE: Appearance = {
  layout: 'bar',
  side: 'start',
  scheme: 'auto',
  light: palette('#ffffff', '#1c2127', '#6b7280', '#0b57a4', '#ffffff'),
  dark: palette('#1c2127', '#e6e8eb', '#8b95a1', '#9cc4f2', '#10151b'),
  radius: 8,
  font: 'system',
};
