import { describe, expect, test } from 'vitest';
import { bannerLabels } from '../../../schemas/banner/banner-labels.js';
import { labelsIn } from '../../../schemas/banner/known-labels.js';
import { directionOf } from '../../../schemas/language/direction.js';

const labelled = (banner: Record<string, string>, language: string) =>
  bannerLabels(banner, language, labelsIn(language));

describe('labels of the banner', () => {
  test('are of the configuration, else of the service, else English and marked as such', () => {
    const savedIn = (language: string, banner: Record<string, string> = {}) => labelled(banner, language).save;
    expect(savedIn('en', { save: 'Keep' })).toEqual({ text: 'Keep', language: 'en' });
    expect(savedIn('en', { save: '' })).toEqual({ text: 'Save choice', language: 'en' });
    expect(savedIn('de-AT')).toEqual({ text: 'Auswahl speichern', language: 'de-AT' });
    expect(savedIn('iw')?.text).toBe(savedIn('he')?.text);
    expect(labelled({ accept: 'Derbyn' }, 'cy')).toMatchObject({
      accept: { text: 'Derbyn', language: 'cy' },
      save: { text: 'Save choice', language: 'en' },
    });
  });

  test('say that an opt-out is honored as the regulation has it, whatever the site states', () => {
    const stated = { opt_out: 'We saw your signal', opt_out_conflict: 'Please accept' };
    // California Code of Regulations, title 11, §7025(c)(6).
    expect(labelled(stated, 'en').opt_out).toEqual({ text: 'Opt-Out Request Honored', language: 'en' });
    expect(labelled(stated, 'en').opt_out_conflict?.text).not.toBe('Please accept');
    expect(labelled({}, 'cy').opt_out).toEqual({ text: 'Opt-Out Request Honored', language: 'en' });
  });

  test('say what the choice of an account means, whatever the site states', () => {
    const stated = { account_scope: 'Nothing changes', account_space: 'Also' };
    expect(labelled(stated, 'de').account_scope).toEqual(labelled({}, 'de').account_scope);
    expect(labelled({}, 'de').account_scope?.text).toMatch(/^Sie sind angemeldet\./);
    expect(labelled(stated, 'cy').account_space).toEqual({
      text: 'It also applies on the sites of this group',
      language: 'en',
    });
  });
});

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
