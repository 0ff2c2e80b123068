/**
 * Languages whose tag has three letters, by the two letters of ISO 639-1 that IAB Europe uses for them or that stand
 * for the language to which ISO 639-3 assigns them.
 */
const TWO_LETTERS: Readonly<Record<string, string>> = {
  fil: 'TL',
  yue: 'ZH',
  wuu: 'ZH',
  hak: 'ZH',
  nan: 'ZH',
  arz: 'AR',
  ary: 'AR',
  apc: 'AR',
  ckb: 'KU',
  kmr: 'KU',
  pbt: 'PS',
};
/** The language of labels if the site has none of its own. */
const OTHERWISE = 'EN';

/**
 * The language of a question in the two letters that a TC string has room for (`ConsentLanguage`, ISO 639-1).
 * @param tag BCP 47
 * @returns two capital letters, which are those of English for a language without a code of two letters
 */
export function twoLetterLanguage(tag: string): string {
  const language = languageOf(tag);
  return language.length === 2 ? language.toUpperCase() : (TWO_LETTERS[language] ?? OTHERWISE);
}

/** The language of a tag, the shortest one: `deu` is `de`. */
function languageOf(tag: string): string {
  try {
    return new Intl.Locale(tag).language;
  } catch {
    return '';
  }
}
