import type { AnswerTexts } from '../i18n/answer-texts.js';
import { LANGUAGES, type Language, languageOf } from '../i18n/language.js';
import { standingText } from '../i18n/standing-text.js';
import type { Texts } from '../i18n/texts.js';
import { find } from './elements.js';

/** The language of the page: initially that of the browser, then the one that the reader chooses. */
export interface PageLanguage<Known extends AnswerTexts = Texts> {
  readonly texts: () => Known;
  /** @param show shows a part of the page again in a new language */
  readonly onChange: (show: () => void) => void;
}

/**
 * Writes the texts of the page in a language, and lets the reader choose another one.
 * @param textsIn the texts that the script has
 * @param initial null for the language of the browser
 */
export function startLanguage<Known extends AnswerTexts>(
  textsIn: (language: Language) => Known,
  initial: Language | null = null,
): PageLanguage<Known> {
  const [preferred = 'en'] = navigator.languages.flatMap((tag) => languageOf(tag) ?? []);
  const listeners: (() => void)[] = [];
  let texts = textsIn(initial ?? preferred);
  const buttons = LANGUAGES.map((language) => [language, find(`language-${language}`, HTMLButtonElement)] as const);

  const choose = (language: Language): void => {
    texts = textsIn(language);
    writeStandingTexts(texts);
    for (const [one, button] of buttons) button.setAttribute('aria-pressed', String(one === language));
    for (const show of listeners) show();
  };
  for (const [language, button] of buttons) button.addEventListener('click', () => choose(language));
  choose(initial ?? preferred);
  return { texts: () => texts, onChange: (show) => listeners.push(show) };
}

/** A text in the language of the reader. */
export type Wording<Known extends AnswerTexts = Texts> = (texts: Known) => string;

/** An element that says what the page is doing, and follows a change of language. */
export interface StatusLine<Known extends AnswerTexts = Texts> {
  readonly say: (wording: Wording<Known>) => void;
  /** The latest text. */
  readonly said: () => Wording<Known>;
}

export const NOTHING: Wording<AnswerTexts> = () => '';

/** @param id identifier of the element */
export function startStatusLine<Known extends AnswerTexts>(
  id: string,
  { texts, onChange }: PageLanguage<Known>,
): StatusLine<Known> {
  const line = find(id, HTMLElement);
  let said: Wording<Known> = NOTHING;
  const say = (wording: Wording<Known>): void => {
    said = wording;
    line.textContent = wording(texts());
  };
  onChange(() => say(said));
  return { say, said: () => said };
}

function writeStandingTexts({ language, page }: AnswerTexts): void {
  document.documentElement.lang = language;
  document.title = page.standing.title;
  for (const node of document.querySelectorAll<HTMLElement>('[data-text]'))
    node.textContent = standingText(page, node.dataset.text);
  for (const node of document.querySelectorAll<HTMLElement>('[data-label]'))
    node.setAttribute('aria-label', standingText(page, node.dataset.label));
}
