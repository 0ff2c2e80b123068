import { describe, expect, it } from 'vitest';
import { acceptedLanguages, chooseLanguage } from '../../src/platform/language.js';

describe('chooseLanguage', () => {
  const available = ['en', 'pt-BR', 'tr'];
  it.each([
    [['tr'], 'tr'],
    [['TR'], 'tr'],
    [['tr-CY'], 'tr'],
    [['pt'], 'pt-BR'],
    [['fr', 'tr'], 'tr'],
    [['fr'], 'en'],
    [[], 'en'],
  ])('chooses for %j the language %s', (wanted, expected) => {
    expect(chooseLanguage(available, wanted, 'en')).toBe(expected);
  });

  it('chooses the first by name if the default is not available', () => {
    expect(chooseLanguage(['tr', 'de'], ['fr'], 'en')).toBe('de');
  });
});

describe('acceptedLanguages', () => {
  it.each([
    [undefined, []],
    ['', []],
    ['tr', ['tr']],
    ['en;q=0.5, tr', ['tr', 'en']],
    ['en;q=0, tr;q=0.1', ['tr']],
    ['*, tr;q=2, de;q=x, fr', ['fr']],
  ])('parses %s', (header, expected) => {
    expect(acceptedLanguages(header)).toEqual(expected);
  });
});
