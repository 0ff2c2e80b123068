import { expect, test } from 'vitest';
import { Appearance, type Palette } from '../../schemas/banner/appearance.js';
import { contrastOf } from '../../schemas/banner/contrast.js';
import { unfairThemes } from '../../schemas/banner/fair-appearance.js';
import { DEFAULT_APPEARANCE } from '../../sdk/banner/default-appearance.js';

/** Contrasts from examples of the W3C, and from other calculators. */
test.each([
  ['#000000', '#ffffff', 21],
  ['#ffffff', '#ffffff', 1],
  ['#777777', '#ffffff', 4.48],
  ['#767676', '#ffffff', 4.54],
  ['#0000ff', '#ffffff', 8.59],
])('the contrast of %s and %s is %d', (a, b, ratio) => {
  expect(contrastOf(a, b)).toBeCloseTo(ratio, 2);
  expect(contrastOf(b, a)).toBe(contrastOf(a, b));
});

test('the default is a valid appearance, and fair', () => {
  expect(Appearance.parse(DEFAULT_APPEARANCE)).toEqual(DEFAULT_APPEARANCE);
  expect(unfairThemes(DEFAULT_APPEARANCE)).toEqual([]);
});

const rulesOf = (light: Partial<Palette>, more: Partial<Appearance> = {}) =>
  unfairThemes({ ...DEFAULT_APPEARANCE, ...more, light: { ...DEFAULT_APPEARANCE.light, ...light } }).map(
    ({ field, rule }) => `${field}: ${rule}`,
  );

test.each<[string, Partial<Palette>, readonly string[]]>([
  [
    'a pale reject button',
    { reject: '#eeeeee', on_reject: '#1c2127' },
    ['appearance.light.reject: button-contrast', 'appearance.light.reject: pale-reject'],
  ],
  [
    'a reject button of the colour of the background, as a link would be',
    { reject: '#ffffff', on_reject: '#1c2127' },
    ['appearance.light.reject: button-contrast', 'appearance.light.reject: pale-reject'],
  ],
  [
    'a reject button that stands out less',
    { reject: '#7a8aa0', on_reject: '#000000' },
    ['appearance.light.reject: pale-reject'],
  ],
  ['a reject button in another colour that stands out as much', { reject: '#7a1f2b' }, []],
  [
    'unreadable text on the reject button',
    { on_reject: '#3b7cc0' },
    ['appearance.light.on_reject: button-text-contrast'],
  ],
  [
    'unreadable text on the accept button',
    { on_accept: '#3b7cc0' },
    ['appearance.light.on_accept: button-text-contrast'],
  ],
  ['pale text', { text: '#9aa3ad' }, ['appearance.light.text: text-contrast']],
])('%s', (_, light, rules) => {
  expect(rulesOf(light)).toEqual(rules);
});

test('colours of a scheme that is never shown are not judged, and each refusal names its source', () => {
  const pale = { reject: '#eeeeee', on_reject: '#1c2127' };
  expect(rulesOf(pale, { scheme: 'dark' })).toEqual([]);
  expect(rulesOf(pale, { scheme: 'light' })).toHaveLength(2);
  const [, refused] = unfairThemes({ ...DEFAULT_APPEARANCE, light: { ...DEFAULT_APPEARANCE.light, ...pale } });
  expect(refused?.message).toContain('EDPB guidelines 03/2022');
});

test.each(['red', '#FFF', '#0B57A4', '#fff}', 'url(x)'])('%s is no colour', (background) => {
  const light = { ...DEFAULT_APPEARANCE.light, background };
  expect(Appearance.safeParse({ ...DEFAULT_APPEARANCE, light }).success).toBe(false);
});
