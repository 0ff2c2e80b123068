import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Appearance } from '../../../schemas/banner/appearance.js';
import { bannerInLanguage, bannerInStatedLanguage } from '../../../schemas/banner/banner-in-language.js';
import { DEFAULT_APPEARANCE } from '../../../sdk/banner/default-appearance.js';
import { drawingOf, type StatedPresentation } from '../../../sdk/banner/drawing.js';
import type { Drawn } from '../../../sdk/banner/drawn.js';
import type { BannerView } from '../../../sdk/banner/view.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import { renderHtml } from '../../../verifier-cli/src/report/markup.js';

const VIEW: BannerView = {
  ...bannerInLanguage({ ...DEMO_CONFIG, cookies: DEMO_CONFIG.cookies ?? [] }, 'en', 'en'),
  appearance: DEFAULT_APPEARANCE,
  policy: { title: 'Cookie policy', language: 'en' },
};
const STATED: StatedPresentation = { layout: 'bar', layout_version: 2, layer: 'first', control: 'reject' };

const htmlOf = (stated: StatedPresentation, view = VIEW, ticked: Readonly<Record<string, boolean>> = {}): string => {
  const drawing = drawingOf(view, stated, ticked);
  return drawing === null ? '' : renderHtml({ drawing });
};

/**
 * Layout 2, as it was frozen. A change of it is a new version of the layout, beside this one:
 * a record that states version 2 must be drawn as the person saw it.
 */
const FROZEN: Readonly<Record<string, string>> = {
  'bar first': '497e0aeffcecc6ba',
  'box first': '9dc9e2d77eac5a17',
  'dialog first': '90b782d2e27de68a',
  'bar settings': '7cbe16a754a9d814',
};

test.each(Object.entries(FROZEN))('layout version 2 is drawn as it was frozen: %s', (name, digest) => {
  const [layout, layer] = name.split(' ');
  const drawing = drawingOf({ ...VIEW, languages: ['en'] }, { ...STATED, layout, layer }, { analytics: true });
  expect(createHash('sha256').update(JSON.stringify(drawing)).digest('hex').slice(0, 16)).toBe(digest);
});

test('the control that was used is marked, and nothing can be used', () => {
  const html = htmlOf(STATED);
  expect([...html.matchAll(/<(\w+)[^>]* data-used="[^>]*>([^<]*)/g)].map(([, tag, text]) => [tag, text])).toEqual([
    ['button', 'Reject all'],
  ]);
  for (const [control] of html.matchAll(/<(?:button|select|input)\b[^>]*>/g)) expect(control).toContain(' disabled=""');
});

test('settings are drawn with the categories that the person ticked, unfolded', () => {
  const html = htmlOf({ ...STATED, layer: 'settings', control: 'save' }, VIEW, { analytics: true });
  const boxes = [...html.matchAll(/<input[^>]*>/g)].map(([box]) => [
    /name="(\w+)"/.exec(box)?.[1],
    box.includes('checked'),
  ]);
  expect(boxes).toEqual([
    ['analytics', true],
    ['marketing', false],
  ]);
  expect(html).not.toMatch(/<details(?![^>]* open)/);
});

test('colours and size are those that were stated, not those of the reader', () => {
  const styleOf = (stated: StatedPresentation): string => drawingOf(VIEW, { ...STATED, ...stated }, {})?.style ?? '';
  expect(styleOf({ colour_scheme: 'dark' })).toContain('--cl-background:#1c2127');
  expect(styleOf({ colour_scheme: 'light' })).toContain('--cl-background:#ffffff');
  expect(styleOf({ size_class: 'phone' })).not.toContain('grid-template-columns');
  expect(styleOf({ size_class: 'desktop' })).toContain('grid-template-columns');
  expect(styleOf({})).not.toContain('@media');
});

test.each([
  ['the bar of SDKs that had one layout', { layout_version: 1 }],
  ['a later version', { layout_version: 3 }],
  ['another layout', { layout: 'wall' }],
  ['another layer', { layer: 'third' }],
  ['nothing', { layout: undefined, layout_version: undefined, layer: undefined }],
  ['a question without a button to reject', { controls: ['accept', 'settings'] }],
  ['a question without a control', { controls: [] }],
  ['a control that the layer does not have', { control: 'save' }],
  ['a part of the banner as the control', { control: 'banner' }],
  ['a theme that only its page knows', { theme: 'midnight' }],
  ['a layout that the theme does not have', { theme: 'site', layout: 'dialog' }],
])('%s is not drawn', (_, stated) => {
  expect(drawingOf(VIEW, { ...STATED, ...stated }, {})).toBeNull();
});

test('no text of a configuration becomes an element or a style', () => {
  const hostile = '</style></template><script>alert(1)</script><img src=x onerror=alert(1)>"\'\u001b[2J\u0000\u009b';
  const altered = (value: unknown): unknown => {
    if (typeof value === 'string') return value + hostile;
    if (Array.isArray(value)) return value.map(altered);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, altered(member)]));
  };
  const { appearance: _, ...words } = VIEW;
  const view: BannerView = Object.assign(structuredClone(VIEW), altered(words));
  for (const layer of ['first', 'settings']) {
    const html = htmlOf({ ...STATED, layer }, view);
    const tags = [...html.matchAll(/<\/?([a-z0-9]+)/g)].map(([, tag]) => tag);
    const known = tagsOf(drawingOf(VIEW, { ...STATED, layer }, {})?.content ?? '');
    const added = tags.filter((tag = '') => !known.includes(tag));
    expect([...new Set(added)].sort()).toEqual(['div', 'style', 'template'].filter((tag) => !known.includes(tag)));
    expect(tags.filter((tag) => tag === 'style')).toHaveLength(2);
    expect(html).not.toMatch(/[^\P{Cc}\n\t]/u);
  }
});

function tagsOf(drawn: Drawn): string[] {
  return typeof drawn === 'string' ? [] : [drawn.tag, ...drawn.children.flatMap(tagsOf)];
}

test('a theme changes the style and no element', () => {
  const appearance: Appearance = { ...DEFAULT_APPEARANCE, radius: 0, font: 'serif' };
  const [plain, themed] = [drawingOf(VIEW, STATED, {}), drawingOf({ ...VIEW, appearance }, STATED, {})];
  expect(themed?.content).toEqual(plain?.content);
  expect(themed?.style).not.toBe(plain?.style);
});

test('the theme of the SDK is drawn if the record states it, whatever the site publishes', () => {
  const view: BannerView = { ...VIEW, appearance: { ...DEFAULT_APPEARANCE, radius: 0, font: 'serif' } };
  expect(drawingOf(view, { ...STATED, theme: 'default' }, {})).toEqual(drawingOf(VIEW, STATED, {}));
  expect(drawingOf(view, { ...STATED, theme: 'site' }, {})).toEqual(drawingOf(view, STATED, {}));
});

test('colours that the theme of the site never has are not drawn', () => {
  const view: BannerView = { ...VIEW, appearance: { ...DEFAULT_APPEARANCE, scheme: 'light' } };
  expect(drawingOf(view, { ...STATED, theme: 'site', colour_scheme: 'dark' }, {})).toBeNull();
  expect(drawingOf(view, { ...STATED, theme: 'site', colour_scheme: 'light' }, {})).not.toBeNull();
});

test.each([
  ['en', 'en'],
  ['tr_TR', 'tr'],
  ['fi', undefined],
  ['constructor', undefined],
  ['__proto__', undefined],
])('the stated language %s has the words of %s', (stated, expected) => {
  const configuration = { ...DEMO_CONFIG, cookies: DEMO_CONFIG.cookies ?? [] };
  expect(bannerInStatedLanguage(configuration, stated)?.language).toBe(expected);
});
