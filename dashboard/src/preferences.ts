import type { SignInMark } from './api/session.js';
import { browserLanguage, isLanguage, type Language } from './i18n/languages.js';

export const THEMES = ['system', 'light', 'dark'] as const;
export type Theme = (typeof THEMES)[number];

const LANGUAGE = 'consent-ledger-panel:language';
const THEME = 'consent-ledger-panel:theme';
const SIGNED_IN = 'consent-ledger-panel:signed-in';

/** The chosen language; without a choice, that of the browser. */
export function preferredLanguage(): Language {
  const chosen = localStorage.getItem(LANGUAGE);
  return chosen !== null && isLanguage(chosen) ? chosen : browserLanguage(navigator.languages);
}

export function keepLanguage(language: Language): void {
  localStorage.setItem(LANGUAGE, language);
}

export function preferredTheme(): Theme {
  const chosen = localStorage.getItem(THEME);
  return THEMES.find((theme) => theme === chosen) ?? 'system';
}

export function keepTheme(theme: Theme): void {
  localStorage.setItem(THEME, theme);
  applyTheme(theme);
}

/** The style sheet follows the attribute; without it, the setting of the device. */
export function applyTheme(theme: Theme): void {
  document.documentElement.dataset.theme = theme;
}

/** The mark that the tabs of this browser share. The cookie itself is hidden from scripts. */
export const signInMark: SignInMark = {
  isSet: () => localStorage.getItem(SIGNED_IN) !== null,
  set: () => localStorage.setItem(SIGNED_IN, ''),
  remove: () => localStorage.removeItem(SIGNED_IN),
};
