import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import type { Appearance } from '../../../schemas/banner/appearance.js';
import { bannerInLanguage, bannerInStatedLanguage } from '../../../schemas/banner/banner-in-language.js';
import { labelsIn } from '../../../schemas/banner/known-labels.js';
import { DEFAULT_APPEARANCE } from '../../../sdk/banner/default-appearance.js';
import { drawingOf, type StatedPresentation } from '../../../sdk/banner/drawing.js';
import type { Drawn } from '../../../sdk/banner/drawn.js';
import type { BannerView } from '../../../sdk/banner/view.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import { renderHtml } from '../../../verifier-cli/src/rendering/markup.js';

const VIEW: BannerView = {
  ...bannerInLanguage({ ...DEMO_CONFIG, cookies: DEMO_CONFIG.cookies ?? [] }, 'en', 'en', labelsIn('en')),
  appearance: DEFAULT_APPEARANCE,
  policy: { title: 'Cookie policy', language: 'en' },
};
const NOTICE = { text: 'Opt-Out Request Honored', language: 'en', version: 1 };
const STATED: StatedPresentation = { layout: 'bar', layout_version: 2, layer: 'first', control: 'reject' };

const htmlOf = (stated: StatedPresentation, view = VIEW, ticked: Readonly<Record<string, boolean>> = {}): string => {
  const drawing = drawingOf(view, stated, ticked);
  return drawing === null ? '' : renderHtml({ drawing });
};

/**
 * The layouts, as they were frozen. A change of one is a new version, beside these: a record that
 * states version 2 must be drawn as the person saw it. Version 3 is frozen with its release.
 */
const FROZEN: Readonly<Record<string, string>> = {
  '2 bar first': '497e0aeffcecc6ba',
  '2 box first': '9dc9e2d77eac5a17',
  '2 dialog first': '90b782d2e27de68a',
  '2 bar settings': '7cbe16a754a9d814',
};

test.each(Object.entries(FROZEN))('a layout is drawn as it was frozen: version %s', (name, digest) => {
  const [version, layout, layer] = name.split(' ');
  const stated = { ...STATED, layout_version: Number(version), layout, layer };
  const drawing = drawingOf({ ...VIEW, languages: ['en'] }, stated, { analytics: true });
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

test('services stand by name under their category, with the switches that the person turned on, and lead nowhere', () => {
  const services = [
    { key: 'youtube', name: 'YouTube', recipient: 'Google Ireland', policy_url: 'https://policies.example/' },
    { key: 'vimeo', name: 'Vimeo', recipient: 'Vimeo.com, Inc.', policy_url: null },
  ];
  const categories = VIEW.categories.map((one) => (one.key === 'marketing' ? { ...one, services } : one));
  const stated = { ...STATED, layout_version: 3, layer: 'settings', control: 'save' };
  const drawn = (view: BannerView): string => {
    const drawing = drawingOf(view, stated, { marketing: false }, { youtube: true });
    return drawing === null ? '' : renderHtml({ drawing });
  };
  const named = drawn({ ...VIEW, categories });
  expect(named).toContain('<bdi>YouTube</bdi>, <bdi>Google Ireland</bdi>');
  expect(named).not.toContain('href');
  expect(named).not.toContain('value="youtube"');
  const switched = drawn({ ...VIEW, categories, service_switches: true });
  const boxes = [...switched.matchAll(/<input[^>]*value="(\w+)"[^>]*>/g)];
  expect(boxes.map(([box, key]) => [key, box.includes('checked')])).toEqual([
    ['youtube', true],
    ['vimeo', false],
  ]);
});

test('the settings are drawn with the notice that was shown, as a switch that was on', () => {
  const html = htmlOf({ ...STATED, layout_version: 3, layer: 'settings', control: 'save', notice: NOTICE });
  expect(html).toMatch(/part="notice"[^>]*><input [^>]*role="switch"[^>]*checked[^>]*>Opt-Out Request Honored</);
  expect(htmlOf({ ...STATED, layout_version: 3, layer: 'settings', control: 'save' })).not.toContain('Honored');
});

test('what was said about the choice of the account is drawn after the question, in both layers', () => {
  const stated = { ...STATED, layout_version: 3 };
  const account = { text: 'Your choice applies to your <account>.', language: 'en' };
  const said = '<p part="account" lang="en">Your choice applies to your &lt;account&gt;.</p>';
  const question = `<p>${VIEW.banner.text}</p>`;
  for (const layer of ['first', 'settings']) {
    const without = htmlOf({ ...stated, layer });
    expect(without).not.toContain('part="account"');
    expect(htmlOf({ ...stated, layer, account })).toBe(without.replace(question, question + said));
    // What a page would say now is not what was said.
    expect(htmlOf({ ...stated, layer }, { ...VIEW, account })).toBe(without);
  }
  const exempt = VIEW.categories.map((one) => (one.required ? one : { ...one, rule: 'exempt', ground: 'Of our own.' }));
  const told = htmlOf({ ...stated, control: 'close', account }, { ...VIEW, categories: exempt });
  expect(told).toContain(said);
  expect(told).not.toContain(question);
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
  ['a later version', { layout_version: 4 }],
  ['a notice in version 2', { layer: 'settings', control: 'save', notice: NOTICE }],
  ['a notice in the first layer', { layout_version: 3, notice: NOTICE }],
  ['the choice of an account in version 2', { account: { text: 'Your account', language: 'en' } }],
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
  const hostile = '</style></template><script>alert(1)</script><img src=x onerror=alert(1)>"\'';
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
  }
});

function tagsOf(drawn: Drawn): string[] {
  return typeof drawn === 'string' ? [] : [drawn.tag, ...drawn.children.flatMap(tagsOf)];
}

test('where nothing waits for consent, the layers inform, and ask no question', () => {
  const ground = 'We count visits to improve the shop.';
  const exempt = VIEW.categories.flatMap((one) =>
    one.key === 'marketing' ? [] : [one.required ? one : { ...one, rule: 'exempt', ground }],
  );
  const question = VIEW.banner.text ?? '';
  const told = { ...STATED, layout_version: 3, control: 'object' };
  const first = htmlOf({ ...told, controls: ['close', 'object', 'settings'] }, { ...VIEW, categories: exempt });
  expect(first).toContain(`Statistics: ${ground}`);
  expect(first).not.toContain(question);
  expect(htmlOf(told)).toBe('');
  const settings = { ...told, layer: 'settings', control: 'save' };
  expect(htmlOf(settings, { ...VIEW, categories: exempt })).not.toContain(question);
  const mixed = VIEW.categories.map((one) => (one.key === 'analytics' ? { ...one, rule: 'exempt', ground } : one));
  const asked = htmlOf({ ...told, control: 'reject' }, { ...VIEW, categories: mixed });
  expect(asked).toContain(question);
  expect(asked).toContain(`Statistics: ${ground}`);
  // A choice whose period is over is asked for again, where the law would permit it without one.
  const optOut = VIEW.categories.map((one) => (one.required ? one : { ...one, rule: 'opt_out' }));
  expect(htmlOf({ ...told, control: 'reject' }, { ...VIEW, categories: optOut })).toContain(question);
});

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
  expect(bannerInStatedLanguage(configuration, { language: stated, rule: undefined }, labelsIn)?.language).toBe(
    expected,
  );
});
