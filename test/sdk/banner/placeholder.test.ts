import { describe, expect, test } from 'vitest';
import { bannerInLanguage } from '../../../schemas/banner/banner-in-language.js';
import { labelsIn } from '../../../schemas/banner/known-labels.js';
import { DEFAULT_APPEARANCE } from '../../../sdk/banner/default-appearance.js';
import { type PlaceholderState, placeholderLayer } from '../../../sdk/banner/placeholder-layer.js';
import type { BannerView } from '../../../sdk/banner/view.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import { renderHtml } from '../../../verifier-cli/src/rendering/markup.js';

const viewIn = (language: string): BannerView => ({
  ...bannerInLanguage({ ...DEMO_CONFIG, cookies: DEMO_CONFIG.cookies ?? [] }, language, 'en', labelsIn(language)),
  appearance: DEFAULT_APPEARANCE,
  policy: null,
});
const VIEW = viewIn('en');
const [, statistics, advertising] = VIEW.categories;
if (statistics === undefined || advertising === undefined) throw new Error('the demonstration has three categories');
const STATE: PlaceholderState = {
  title: 'Our garden in June',
  recipient: 'YouTube (Google Ireland)',
  categories: [advertising],
  services: [],
  image: undefined,
  canLoadOnce: true,
  permitting: 'counts',
};

const htmlOf = (state: Partial<PlaceholderState> = {}, view = VIEW): string =>
  renderHtml({ drawing: { content: placeholderLayer(view, { ...STATE, ...state }), style: '' } });
const buttonsOf = (html: string): readonly string[] =>
  [...html.matchAll(/<button[^>]*>(.*?)<\/button>/g)].map(([, content = '']) => content.replace(/<[^>]+>/g, ''));

describe('the placeholder of embedded content', () => {
  test('says what waits and who gets data, and names in its button all that it permits', () => {
    const html = htmlOf();
    expect(html).toContain('Our garden in June');
    expect(html.replace(/<[^>]+>/g, '')).toContain('Loading this content sends data to YouTube (Google Ireland).');
    expect(buttonsOf(html)).toEqual(['Load once', 'Allow all of Advertising: Demonstration Ads Ltd.']);
  });

  test('names a service alone where it has a switch of its own', () => {
    const youtube = { key: 'youtube', name: 'YouTube', recipient: 'Google Ireland', policy_url: null };
    expect(buttonsOf(htmlOf({ categories: [], services: [youtube] }))).toEqual(['Load once', 'Allow YouTube']);
    expect(buttonsOf(htmlOf({ categories: [{ ...advertising, services: [youtube] }] }))).toEqual([
      'Load once',
      'Allow all of Advertising: Demonstration Ads Ltd., YouTube',
    ]);
  });

  test('names every category and each recipient once', () => {
    const twice = { ...advertising, key: 'media', recipients: ['Demonstration Ads Ltd.', 'Vimeo'] };
    const [, allow] = buttonsOf(htmlOf({ categories: [statistics, advertising, twice] }));
    expect(allow).toBe(
      'Allow all of Statistics, Advertising, Advertising: Demonstration Analytics Ltd., Demonstration Ads Ltd., Vimeo',
    );
    expect(buttonsOf(htmlOf({ categories: [{ ...advertising, recipients: [] }] }))[1]).toBe('Allow all of Advertising');
  });

  test('leads to the settings while the question is open, and says by three dots that a step follows', () => {
    const html = htmlOf({ permitting: 'asks' });
    expect(buttonsOf(html)[1]).toBe('Allow all of Advertising: Demonstration Ads Ltd.…');
    expect(html).toContain('data-consent-settings=""');
    expect(htmlOf()).not.toContain('data-consent-settings');
  });

  test('offers nothing that leads nowhere, and no single load where the site turned it off', () => {
    expect(buttonsOf(htmlOf({ permitting: 'nowhere' }))).toEqual(['Load once']);
    expect(buttonsOf(htmlOf({ canLoadOnce: false }))).toEqual(['Allow all of Advertising: Demonstration Ads Ltd.']);
  });

  test('isolates names of another direction, and has the language and direction of the banner', () => {
    const html = htmlOf({}, { ...viewIn('en'), language: 'ar', direction: 'rtl', labels: viewIn('tr').labels });
    expect(html).toContain('dir="rtl"');
    expect(html).toContain('<bdi>YouTube (Google Ireland)</bdi>');
    expect(html).toContain('<bdi>Demonstration Ads Ltd.</bdi>');
  });

  test('puts names after a text of the site that has no place for them', () => {
    const labels = { ...VIEW.labels, receives: { text: 'Data go to:', language: 'en' } };
    expect(htmlOf({}, { ...VIEW, labels }).replace(/<[^>]+>/g, '')).toContain('Data go to: YouTube (Google Ireland)');
  });

  test('reads no text as HTML', () => {
    const html = htmlOf({ title: '<img src=x onerror=alert(1)>', recipient: '<script>', image: '" onload="alert(1)' });
    expect(html).not.toMatch(/<script|<img src=x|" onload="/);
  });
});
