import { expect, test } from 'vitest';
import { bannerSearchOf, placeOfProblem, SECTIONS, sectionsFor } from '../../dashboard/src/pages/banner/sections.js';

test.each([
  ['controller.legal_name', { section: 'settings', anchor: 'controller.legal_name' }],
  ['languages', { section: 'settings', anchor: 'languages' }],
  ['default_language', { section: 'settings', anchor: 'default_language' }],
  ['banner.tr.text', { section: 'texts', anchor: 'texts.text', language: 'tr' }],
  ['banner.en.own.text', { section: 'texts', anchor: 'texts.own.text', language: 'en' }],
  ['withdrawal.tr', { section: 'texts', anchor: 'withdrawal', language: 'tr' }],
  ['appearance.light.reject', { section: 'look', anchor: 'appearance.light.reject' }],
  ['iab.tcf.vendors', { section: 'iab', anchor: 'iab.tcf.vendors' }],
  ['rules.0.places.1', { section: 'rules', anchor: 'rules.0' }],
  ['rules.1.categories.analytics.ground.tr', { section: 'rules', anchor: 'rules.1.categories.analytics' }],
  ['categories', { section: 'categories', anchor: '' }],
  ['categories.analytics', { section: 'categories', anchor: 'categories.analytics' }],
  ['categories.analytics.purpose.tr', { section: 'categories', anchor: 'categories.analytics' }],
  ['cookies._ga.shop.example.purpose.tr', { section: 'categories', anchor: 'cookies._ga.shop.example' }],
  ['cookies._ga.provider', { section: 'categories', anchor: 'cookies._ga' }],
])('the problem at %s is solved at %o', (field, place) => {
  expect(placeOfProblem(field)).toEqual(place);
});

test('a user who changes nothing has no section that only changes something', () => {
  expect(sectionsFor(true)).toEqual(SECTIONS);
  expect(sectionsFor(false)).toEqual(['texts', 'categories', 'rules', 'settings', 'scan', 'publish']);
});

test('the address names a language by a text, and nothing else', () => {
  expect(bannerSearchOf({ language: 'tr', other: 1 })).toEqual({ language: 'tr' });
  expect(bannerSearchOf({ language: ['tr'] })).toEqual({ language: undefined });
});
