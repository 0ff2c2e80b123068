/**
 * The texts that changes of case can make of a text, and of which they can make it: in the root
 * locale and in Turkish (`İ i`, `I ı`), with `ß` as `ss`, and with each form of the final sigma. One
 * change can lose a difference that another one needs, so that two follow each other.
 */
export function caseForms(text: string): readonly string[] {
  const once = CASE_CHANGES.map((change) => change(text));
  return [text, ...once, ...once.flatMap((form) => CASE_CHANGES.map((change) => change(form)))];
}

const CASE_CHANGES: readonly ((text: string) => string)[] = [
  (text) => text.toLowerCase(),
  (text) => text.toUpperCase(),
  (text) => text.toLocaleLowerCase('tr'),
  (text) => text.toLocaleUpperCase('tr'),
  (text) => text.replaceAll('ß', 'ss').replaceAll('ẞ', 'SS'),
  (text) => text.replaceAll('ss', 'ß').replaceAll('SS', 'ẞ'),
  (text) => text.replaceAll('ς', 'σ'),
];

/** Lower-case letters that a person or a program writes for each other in Turkish names. */
const TURKISH: readonly (readonly string[])[] = [
  ['i', 'ı', 'i\u0307'],
  ['c', 'ç'],
  ['g', 'ğ'],
  ['o', 'ö'],
  ['s', 'ş'],
  ['u', 'ü'],
];
/** The look-up of a spelling costs a query. */
const MOST_FORMS = 256;

/**
 * The spellings of a text in which Turkish letters are exchanged in every combination; beyond
 * `MOST_FORMS`, those of its first letters.
 */
export function turkishForms(text: string): readonly string[] {
  let forms = [''];
  for (const [letter] of text
    .toLowerCase()
    .normalize('NFC')
    .matchAll(/i\u0307|./gsu)) {
    const same = TURKISH.find((letters) => letters.includes(letter)) ?? [letter];
    const isFull = forms.length * same.length > MOST_FORMS;
    forms = forms.flatMap((form) => (isFull ? [form + letter] : same.map((one) => form + one)));
  }
  return forms;
}

/** Grave, acute, circumflex, tilde, macron, breve, dot, diaeresis, ring, double acute, caron, cedilla, ogonek. */
const MARKS = [...'\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328'];

/** The spellings of a text in which one letter has an accent, for each letter that Unicode composes with it. */
export function accentedForms(text: string): readonly string[] {
  const letters = [...text];
  return letters.flatMap((letter, place) =>
    MARKS.map((mark) => (letter + mark).normalize('NFC'))
      .filter((composed) => composed.length === 1)
      .map((composed) => letters.with(place, composed).join('')),
  );
}

/** A text without accents and other marks. */
export function withoutMarks(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '');
}

/** A text in the wide forms of East Asian keyboards. */
export function fullWidth(text: string): string {
  return text.replace(/[!-~]/g, (letter) => String.fromCharCode(letter.charCodeAt(0) + 0xfee0));
}
