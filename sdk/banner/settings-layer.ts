import { button, control, details, inLanguage, isolated, labelOf, questionOf, titleOf } from './controls.js';
import { type Drawn, type DrawnElement, draw } from './drawn.js';
import type { BannerView, Label, ViewedCategory, ViewedCookie } from './view.js';

/** Controls of the settings with which the visitor decides, in their order. */
export const SETTINGS_CONTROLS = ['save', 'accept', 'reject'] as const;

const DAY_SECONDS = 86_400;

export interface SettingsState {
  /** The categories and services that are ticked. Without `services`, a service is ticked if its category is. */
  readonly ticked: {
    readonly categories: Readonly<Record<string, boolean>>;
    readonly services?: Readonly<Record<string, boolean>> | undefined;
  };
  /**
   * The notice that the browser's signal counts as an opt-out, which the visitor can reverse, or undefined if it does
   * not.
   */
  readonly notice: Label | undefined;
  /** Page where the visitor checks the recorded choice, or null if nothing is recorded yet. */
  readonly proofPage: string | null;
}

/**
 * The dialog in which the visitor chooses each category, and changes or withdraws an earlier choice.
 * The text of the policy is empty: the page fills it when the visitor opens it.
 */
export function settingsLayer(view: BannerView, { ticked, notice, proofPage }: SettingsState): DrawnElement {
  const { categories, language, direction, policy, withdrawal } = view;
  return draw(
    'dialog',
    { class: 'settings', 'aria-labelledby': 'settings-title', part: 'dialog', lang: language, dir: direction },
    draw('div', { class: 'head' }, draw('h2', { id: 'settings-title' }, titleOf(view)), button(view, 'close')),
    questionOf(view),
    notice === undefined
      ? []
      : draw(
          'label',
          { class: 'category', part: 'notice', lang: notice.language },
          draw('input', { type: 'checkbox', role: 'switch', class: 'opt-out', checked: true }),
          notice.text,
        ),
    categories.map((category) => categorySection(view, category, ticked)),
    policy === null
      ? []
      : draw(
          'details',
          { class: 'policy' },
          draw('summary', inLanguage(view, policy.language), policy.title),
          draw('div', { class: 'text', ...inLanguage(view, policy.language) }),
        ),
    details(view, false),
    draw(
      'p',
      {},
      withdrawal ?? '',
      proofPage === null ? [] : [' ', control(view, 'a', 'proof', { href: proofPage, target: '_blank' })],
    ),
    draw(
      'div',
      { class: 'choices foot' },
      button(view, 'save', 'choice'),
      button(view, 'accept'),
      button(view, 'reject'),
    ),
  );
}

function categorySection(
  view: BannerView,
  category: ViewedCategory,
  { categories, services: named }: SettingsState['ticked'],
): DrawnElement {
  const { key, required, title, purpose, ground, recipients, cookies, services = [] } = category;
  const isTicked = categories[key] === true;
  const description = `purpose-${key}`;
  const names = recipients.flatMap((name, i) => [i === 0 ? '' : ', ', isolated(name)]);
  return draw(
    'div',
    { class: 'category', part: 'category' },
    required
      ? draw('div', { class: 'head' }, draw('h3', {}, title), control(view, 'span', 'always_on'))
      : draw(
          'label',
          {},
          draw('input', { type: 'checkbox', name: key, 'aria-describedby': description, checked: isTicked }),
          title,
        ),
    draw('p', { id: description }, purpose),
    ground === undefined ? [] : draw('p', {}, ground),
    recipients.length === 0 ? [] : draw('p', {}, stated(view, 'recipients', names)),
    services.length === 0
      ? []
      : draw(
          'ul',
          { class: 'services' },
          services.map((one) => {
            const name = isolated(one.name);
            const checked = named ? named[one.key] === true : isTicked;
            return draw(
              'li',
              {},
              view.service_switches && !required
                ? draw('label', {}, draw('input', { type: 'checkbox', value: one.key, checked }), name)
                : name,
              ', ',
              isolated(one.recipient),
              ' ',
              // The recipient learns nothing of the page before it is permitted.
              one.policy_url?.startsWith('https:')
                ? control(view, 'a', 'service_policy', { href: one.policy_url, target: '_blank', rel: 'noreferrer' })
                : [],
            );
          }),
        ),
    cookieList(view, cookies),
  );
}

/** A fact with its caption. */
function stated(view: BannerView, name: string, fact: Drawn | readonly Drawn[]): readonly Drawn[] {
  return [control(view, 'span', name), ': ', fact].flat();
}

function cookieList(view: BannerView, cookies: readonly ViewedCookie[]): Drawn | readonly Drawn[] {
  if (cookies.length === 0) return [];
  const { text, language } = labelOf(view, 'cookies');
  const items = cookies.map(({ name, provider, purpose, duration_seconds: seconds }) =>
    draw(
      'li',
      {},
      isolated(name),
      ', ',
      isolated(provider),
      `: ${purpose} `,
      stated(
        view,
        'storage_period',
        seconds === null ? control(view, 'span', 'until_closed') : inDays(seconds, view.language),
      ),
    ),
  );
  return draw(
    'details',
    {},
    draw('summary', inLanguage(view, language), `${text} (${cookies.length})`),
    draw('ul', {}, items),
  );
}

function inDays(seconds: number, language: string): string {
  const inWords = (tag?: string): string =>
    Math.max(1, Math.round(seconds / DAY_SECONDS)).toLocaleString(tag, {
      style: 'unit',
      unit: 'day',
      unitDisplay: 'long',
    });
  try {
    return inWords(language);
  } catch {
    // The browser does not know the tag.
    return inWords();
  }
}
