import { isolated, labelOf, titleOf } from '../controls.js';
import { type Drawn, type DrawnElement, draw } from '../drawn.js';
import type { BannerView, ViewedCategory, ViewedCookie } from '../view.js';
import { button, control, details } from './controls.js';

const DAY_SECONDS = 86_400;

/** The settings of version 2, as they were frozen. Never change them. */
export function settingsLayerOfVersion2(view: BannerView, ticked: Readonly<Record<string, boolean>>): DrawnElement {
  const { banner, categories, language, direction, policy, withdrawal } = view;
  return draw(
    'dialog',
    { class: 'settings', 'aria-labelledby': 'settings-title', part: 'dialog', lang: language, dir: direction },
    draw('div', { class: 'row head' }, draw('h2', { id: 'settings-title' }, titleOf(view)), button(view, 'close')),
    draw('p', {}, banner.text ?? ''),
    ...categories.map((category) => categorySection(view, category, ticked[category.key] === true)),
    ...(policy === null
      ? []
      : [
          draw(
            'details',
            { class: 'policy' },
            draw('summary', { lang: policy.language }, policy.title),
            draw('div', { class: 'text', lang: policy.language }),
          ),
        ]),
    details(view, false),
    draw('p', {}, withdrawal ?? ''),
    draw(
      'div',
      { class: 'choices foot' },
      button(view, 'save', 'choice'),
      button(view, 'accept', 'choice'),
      button(view, 'reject', 'choice'),
    ),
  );
}

function categorySection(view: BannerView, category: ViewedCategory, isTicked: boolean): DrawnElement {
  const { key, required, title, purpose, recipients, cookies } = category;
  const description = `purpose-${key}`;
  const names = recipients.flatMap((name, i) => [i === 0 ? ' — ' : ', ', isolated(name)]);
  return draw(
    'div',
    { class: 'category', part: 'category' },
    required
      ? draw('div', { class: 'row head' }, draw('h3', {}, title), control(view, 'span', 'always_on'))
      : draw(
          'label',
          {},
          draw('input', { type: 'checkbox', name: key, 'aria-describedby': description, checked: isTicked }),
          title,
        ),
    draw('p', { id: description }, purpose, ...names),
    ...cookieList(view, cookies),
  );
}

function cookieList(view: BannerView, cookies: readonly ViewedCookie[]): readonly Drawn[] {
  if (cookies.length === 0) return [];
  const { text, language } = labelOf(view, 'cookies');
  const items = cookies.map(({ name, provider, purpose, duration_seconds: seconds }) =>
    draw('li', {}, isolated(name), ' — ', isolated(provider), `: ${purpose}`, lifetime(seconds, view.language)),
  );
  return [
    draw('details', {}, draw('summary', { lang: language }, `${text} (${cookies.length})`), draw('ul', {}, ...items)),
  ];
}

function lifetime(seconds: number | null, language: string): string {
  if (seconds === null) return '';
  const days = Math.max(1, Math.round(seconds / DAY_SECONDS));
  const inWords = (tag?: string): string =>
    ` (${new Intl.NumberFormat(tag, { style: 'unit', unit: 'day', unitDisplay: 'long' }).format(days)})`;
  try {
    return inWords(language);
  } catch {
    // The browser does not know the tag.
    return inWords();
  }
}
