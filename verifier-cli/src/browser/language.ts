import { LANGUAGES, type Language, languageOf } from '../i18n/language.js';
import { standingText } from '../i18n/standing-text.js';
import type { Texts } from '../i18n/texts.js';
import { textsIn } from '../i18n/texts-in.js';
import { find } from './elements.js';

/** The language of the page: initially that of the browser, then the one that the reader chooses. */
export interface PageLanguage {
  readonly texts: () => Texts;
  /** @param show shows a part of the page again in a new language */
  onChange(show: () => void): void;
}

/** Writes the texts of the page in the language of the browser, and lets the reader choose another one. */
export function startLanguage(): PageLanguage {
  const [preferred = 'en'] = navigator.languages.flatMap((tag) => languageOf(tag) ?? []);
  const listeners: (() => void)[] = [];
  let texts = textsIn(preferred);
  const buttons = LANGUAGES.map((language) => [language, find(`language-${language}`, HTMLButtonElement)] as const);

  const choose = (language: Language): void => {
    texts = textsIn(language);
    writeStandingTexts(texts);
    for (const [one, button] of buttons) button.setAttribute('aria-pressed', String(one === language));
    for (const show of listeners) show();
  };
  for (const [language, button] of buttons) button.addEventListener('click', () => choose(language));
  choose(preferred);
  return { texts: () => texts, onChange: (show) => listeners.push(show) };
}

/** A text in the language of the reader. */
export type Wording = (texts: Texts) => string;

/** An element that says what the page is doing, and follows a change of language. */
export interface StatusLine {
  readonly say: (wording: Wording) => void;
  /** The latest text. */
  readonly said: () => Wording;
}

export const NOTHING: Wording = () => '';

/** @param id identifier of the element */
export function startStatusLine(id: string, { texts, onChange }: PageLanguage): StatusLine {
  const line = find(id, HTMLElement);
  let said = NOTHING;
  const say = (wording: Wording): void => {
    said = wording;
    line.textContent = wording(texts());
  };
  onChange(() => say(said));
  return { say, said: () => said };
}

function writeStandingTexts({ language, page }: Texts): void {
  document.documentElement.lang = language;
  document.title = page.standing.title;
  for (const node of document.querySelectorAll<HTMLElement>('[data-text]'))
    node.textContent = standingText(page, node.dataset.text);
  for (const node of document.querySelectorAll<HTMLElement>('[data-label]'))
    node.setAttribute('aria-label', standingText(page, node.dataset.label));
}
