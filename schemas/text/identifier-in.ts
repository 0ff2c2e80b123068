/** What a text names, by its form. */
export type NamedBy = 'token' | 'hash' | 'id';

export interface FoundIdentifier {
  readonly by: NamedBy;
  /** In lower case, without what stands around it. */
  readonly text: string;
}

const FORMS: readonly (readonly [NamedBy, RegExp])[] = [
  ['token', /^[^0-9a-z]*(ct_(?:test_)?[0-9a-f]{32})[^0-9a-z]*$/],
  ['hash', /^[^0-9a-z]*([0-9a-f]{64})[^0-9a-z]*$/],
  ['id', /^[^0-9a-z]*([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})[^0-9a-z]*$/],
];

/**
 * Returns what a text names, or null if it is none of these: then it can be anything, also a person. People copy
 * identifiers from mails, so quotation marks and punctuation around one are dropped, and blanks within it.
 */
export function identifierIn(text: string): FoundIdentifier | null {
  const bare = text.replace(/\s/g, '').toLowerCase();
  for (const [by, pattern] of FORMS) {
    const found = pattern.exec(bare)?.[1];
    if (found !== undefined) return { by, text: found };
  }
  return null;
}
