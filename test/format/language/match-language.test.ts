import { describe, expect, it } from 'vitest';
import { chooseLanguage } from '../../../schemas/language/choose-language.js';
import { isSameTag, isWellFormed, localeOf } from '../../../schemas/language/language-tag.js';
import { matchLanguage } from '../../../schemas/language/match-language.js';

describe('a language tag as pages write it', () => {
  it.each([
    ['tr_TR', 'tr-TR'],
    ['TR', 'tr'],
    ['zh_hant_tw', 'zh-Hant-TW'],
    [' en\n', 'en'],
    ['en--US', 'en-US'],
    ['tr_TR.UTF-8', 'tr-TR'],
    ['sr_RS@latin', 'sr-RS'],
    ['en, tr', 'en'],
    ['en;q=0.5', 'en'],
    ['tr-@@garbage', 'tr'],
    ['tr-tr-TR', 'tr-TR'],
    ['en-', 'en'],
    ['en-GB-oed', 'en-GB'],
    ['de-DE-u-co-phonebk', 'de-DE-u-co-phonebk'],
    ['de-x-goethe', 'de-x-goethe'],
    ['zh-cmn-Hans-CN', 'zh-Hans-CN'],
    ['zh-min-nan', 'zh'],
    ['zh-CHT', 'zh'],
    ['iw', 'he'],
    ['tur', 'tr'],
    ['sh', 'sr-Latn'],
    [`en${'-abcde'.repeat(10_000)}`, 'en-abcde'],
  ])('%j is read as %s', (text, tag) => {
    expect(String(localeOf(text))).toBe(tag);
  });

  it.each([
    ...['', ' ', 'x-default', 'x-klingon', 'und', 'und-x-a', 'mul', 'zxx', 'root', 'C', '*', '-', '_tr', 'i-klingon'],
    ...['english', 'Türkçe', '{{ lang }}', '"tr"', '12', 'qq', '\0', 'a'.repeat(100_000)],
  ])('%j names no language', (text) => {
    expect(localeOf(text)).toBeUndefined();
  });

  it.each([
    ['tr_TR', true],
    ['de-DE-u-co-phonebk', true],
    ['tr-@@', false],
    ['tr_TR.UTF-8', false],
    ['x-default', false],
  ])('%j is a tag as a whole: %s', (text, expected) => {
    expect(isWellFormed(text)).toBe(expected);
  });

  it.each([
    ['TR_tr', 'tr-TR', true],
    ['tr', 'tr-TR', false],
    ['tr;x', 'tr', false],
  ])('%j and %j are the same: %s', (one, other, expected) => {
    expect(isSameTag(one, other)).toBe(expected);
  });
});

describe('the available language that suits best', () => {
  it.each([
    // RFC 4647 §3.4: subtags are removed from the end.
    [['en', 'tr'], ['en-GB'], 'en'],
    [['en', 'tr'], ['tr_TR'], 'tr'],
    [['de', 'en'], ['de-DE-u-co-phonebk'], 'de'],
    [['es', 'es-MX'], ['es-MX'], 'es-MX'],
    [['es', 'es-ES'], ['es-MX'], 'es'],
    [['ca', 'ca-valencia'], ['CA_valencia'], 'ca-valencia'],
    // The first wanted tag that matches decides.
    [['en', 'tr'], ['fr', 'tr', 'en'], 'tr'],
    [['en', 'tr'], ['x-default', 'english', 'tr-CY'], 'tr'],
    [['en', 'tr'], ['fr'], undefined],
    [['en', 'tr'], [], undefined],
    // Another region, the most likely one first.
    [['en', 'pt-BR'], ['pt'], 'pt-BR'],
    [['en', 'pt-BR'], ['pt-PT'], 'pt-BR'],
    [['en-GB', 'en-US'], ['en'], 'en-US'],
    // Scripts.
    [['zh-Hans', 'zh-Hant'], ['zh-TW'], 'zh-Hant'],
    [['zh-Hans', 'zh-Hant'], ['zh_HK'], 'zh-Hant'],
    [['zh-Hant', 'zh-Hans'], ['zh-SG'], 'zh-Hans'],
    [['zh-Hant', 'zh-Hans'], ['zh'], 'zh-Hans'],
    [['zh-CN', 'zh-TW'], ['zh-Hant'], 'zh-TW'],
    [['zh', 'zh-Hant'], ['zh-TW'], 'zh-Hant'],
    [['zh', 'en'], ['zh-TW'], 'zh'],
    [['zh-Hans', 'en'], ['zh-TW', 'en'], 'en'],
    [['zh-Hant', 'en'], ['zh'], 'zh-Hant'],
    [['sr', 'sr-Latn'], ['sr-ME'], 'sr-Latn'],
    [['sr-Latn', 'en'], ['sr'], 'sr-Latn'],
    [['az', 'az-Arab'], ['az-IR'], 'az-Arab'],
    // Macrolanguages and former codes.
    [['en', 'no'], ['nb-NO'], 'no'],
    [['en', 'nb'], ['no'], 'nb'],
    [['nn', 'nb'], ['no'], 'nb'],
    [['nn', 'no'], ['nb'], 'no'],
    [['nb', 'nn'], ['nn-NO'], 'nn'],
    [['en', 'nb'], ['nn'], 'nb'],
    [['en', 'nn'], ['no'], 'nn'],
    [['en', 'zh-Hant'], ['yue-HK'], 'zh-Hant'],
    [['en', 'he'], ['iw-IL'], 'he'],
    [['en', 'iw'], ['he'], 'iw'],
    // Available tags that the engine does not know match as they are written.
    [['en', 'tlh'], ['TLH'], 'tlh'],
    [['en', 'en-GB-oed'], ['en-GB-oed'], 'en-GB-oed'],
    [['de', 'nds'], ['nds-DE'], 'nds'],
  ])('of %j for %j is %s', (available, wanted, expected) => {
    expect(matchLanguage(available, wanted)).toBe(expected);
  });

  it('is the default if none matches, else the first by name', () => {
    expect(chooseLanguage(['de', 'en', 'tr'], ['fr'], 'en-GB')).toBe('en');
    expect(chooseLanguage(['tr', 'de'], ['fr'], 'en')).toBe('de');
    expect(() => chooseLanguage([], ['fr'], 'en')).toThrow(RangeError);
  });
});
