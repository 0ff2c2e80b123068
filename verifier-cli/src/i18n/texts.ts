import type { en } from './en/index.js';
import type { Language } from './language.js';

/** The texts of reports and of the page. Every language has the same ones, which the compiler checks. */
export type Texts = Omit<typeof en, 'language'> & { readonly language: Language };
