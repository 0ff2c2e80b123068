import { describe, expect, test } from 'vitest';
import { directionOf, labelOf } from '../../../sdk/browser/src/banner/labels.js';

describe('labels', () => {
  test('are of the configuration, else built in, else English and marked as such', () => {
    expect(labelOf('save', { save: 'Keep' }, 'en')).toEqual({ text: 'Keep', language: 'en' });
    expect(labelOf('save', {}, 'de-AT')).toEqual({ text: 'Auswahl speichern', language: 'de-AT' });
    expect(labelOf('save', {}, 'iw').text).toBe(labelOf('save', {}, 'he').text);
    expect(labelOf('save', {}, 'cy')).toEqual({ text: 'Save choice', language: 'en' });
  });

  test.each(['en', 'tr', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'ru', 'ar', 'he', 'fa'])(
    'are complete in %s',
    (language) => {
      const names = [
        'accept',
        'reject',
        'settings',
        'save',
        'always_on',
        'cookies',
        'close',
        'saved',
        'language',
        'proof',
      ] as const;
      const texts = names.map((name) => labelOf(name, {}, language));
      expect(texts.every(({ text, language: own }) => text.length > 1 && own === language)).toBe(true);
      expect(texts.some(({ text }) => names.some((name) => name === text))).toBe(false);
    },
  );

  test.each([
    ['ar', 'rtl'],
    ['fa-IR', 'rtl'],
    ['fa_IR', 'rtl'],
    ['az-Arab', 'rtl'],
    ['pa-PK', 'rtl'],
    ['iw', 'rtl'],
    ['ar-Latn', 'ltr'],
    ['x-default', 'ltr'],
    ['en', 'ltr'],
    ['arn', 'ltr'],
  ] as const)('%s is written %s', (language, direction) => {
    expect(directionOf(language)).toBe(direction);
  });
});
