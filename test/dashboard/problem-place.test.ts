import { expect, test } from 'vitest';
import { en } from '../../dashboard/src/i18n/en/index.js';
import { problemPlace } from '../../dashboard/src/pages/banner/problem-place.js';

const names: Readonly<Record<string, string>> = { en: 'English', tr: 'Turkish' };
const placeOf = (field: string): string => problemPlace(field, en, (tag) => names[tag] ?? tag);

test.each([
  ['controller.legal_name', 'Legal name of the controller'],
  ['controller.contact', 'Contact for questions about data protection'],
  ['languages', 'Languages'],
  ['default_language', 'Default language'],
  ['banner.tr.text', 'Texts of the banner: Text (Turkish)'],
  ['banner.en.own.text', 'Texts of the banner: own.text (English)'],
  ['withdrawal_url', 'Address where visitors change or withdraw the choice'],
  ['time_zone', 'Time zone of evidence'],
  ['rules.0.id', 'Rule 1'],
  ['rules.1.categories.analytics', 'Rule 2, analytics'],
  ['rules.1.categories.analytics.ground.tr', 'Rule 2, analytics: Reason that visitors read (Turkish)'],
  ['withdrawal.tr', 'How a visitor withdraws the choice (Turkish)'],
  ['categories.analytics.title.en', 'analytics: Name (English)'],
  ['categories.analytics.purpose.tr', 'analytics: Purpose (Turkish)'],
  ['cookies._ga.shop.example.purpose.tr', '_ga.shop.example: Purpose (Turkish)'],
  ['categories.__proto__', 'categories.__proto__'],
])('the problem at %s is at: %s', (field, place) => {
  expect(placeOf(field)).toBe(place);
});
