import { en } from './en/index.js';
import type { Language } from './language.js';
import type { Texts } from './texts.js';
import { tr } from './tr/index.js';

const TEXTS: Readonly<Record<Language, Texts>> = { en, tr };

/** The texts in one language. */
export function textsIn(language: Language): Texts {
  return TEXTS[language];
}
