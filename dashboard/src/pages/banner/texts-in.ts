import type { Values } from '../../ui/action-form.js';

/** The texts of a form by language, from fields `name.language`; empty texts are left out. */
export function textsIn(values: Values, name: string, languages: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    languages
      .map((language) => [language, values.text(`${name}.${language}`).trim()] as const)
      .filter(([, text]) => text !== ''),
  );
}
