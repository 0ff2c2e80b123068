import type { Appearance } from './view.js';

/** The look of the banner where the site states none. Contrast is at least 7:1 for text. */
export const DEFAULT_APPEARANCE: Appearance = {
  layout: 'bar',
  side: 'start',
  scheme: 'auto',
  light: {
    background: '#ffffff',
    text: '#1c2127',
    border: '#6b7280',
    accept: '#0b57a4',
    on_accept: '#ffffff',
    reject: '#0b57a4',
    on_reject: '#ffffff',
  },
  dark: {
    background: '#1c2127',
    text: '#e6e8eb',
    border: '#8b95a1',
    accept: '#9cc4f2',
    on_accept: '#10151b',
    reject: '#9cc4f2',
    on_reject: '#10151b',
  },
  radius: 8,
  font: 'system',
};
