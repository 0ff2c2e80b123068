import type { Configuration, KnownCategory, Label } from '../../../core/answers.js';
import { cookiePolicyOf } from '../../../core/choice.js';
import type { Consent } from '../consent.js';
import { type Attributes, element } from './element.js';

const DAY_SECONDS = 86_400;

/** Makes texts of a configuration into elements. */
export class BannerTexts {
  constructor(readonly configuration: Configuration) {}

  /** The text of a control; its name, if the service is older than this control. */
  label(name: string): Label {
    return this.configuration.labels[name] ?? { text: name, language: 'en' };
  }

  /** Title of the configuration, otherwise that of the cookie policy. */
  title(): string {
    return this.configuration.banner.title ?? cookiePolicyOf(this.configuration)?.version.title ?? '';
  }

  button(name: string, look: string, onClick: () => void): HTMLButtonElement {
    return this.control('button', name, { type: 'button', class: look, click: onClick });
  }

  /** An element with a label, in the label's language. */
  control<K extends keyof HTMLElementTagNameMap>(
    tag: K,
    name: string,
    attributes: Attributes = {},
  ): HTMLElementTagNameMap[K] {
    const { text, language } = this.label(name);
    return element(tag, { ...attributes, part: name.replace('_', '-'), lang: language }, text);
  }

  /** A choice among the languages of the site; nothing if there is only one. */
  languageChoice(onChoose: (language: string) => void): readonly HTMLElement[] {
    const { language, languages } = this.configuration;
    if (languages.length < 2) return [];
    const label = this.label('language');
    const select = element('select', { 'aria-label': label.text, part: 'language' });
    for (const tag of languages)
      select.append(element('option', { value: tag, lang: tag, selected: tag === language }, ownName(tag)));
    select.addEventListener('change', () => onChoose(select.value));
    return [select];
  }
}

/** The name of a language in itself. A tag that the browser does not know is its own name. */
function ownName(language: string): string {
  try {
    return new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language;
  } catch {
    return language;
  }
}

export interface DialogActions {
  readonly choose: (chosen: Record<string, boolean>) => void;
  /** The buttons that accept and refuse all. */
  readonly choiceButtons: readonly HTMLButtonElement[];
  readonly setLanguage: (language: string) => void;
}

/**
 * The dialog in which the visitor chooses each category, and changes or withdraws an earlier choice.
 * Nothing is chosen beforehand except what the visitor chose earlier.
 */
export function settingsDialog(consent: Consent, texts: BannerTexts, actions: DialogActions): HTMLDialogElement {
  const { configuration } = texts;
  const choices = new Map<string, HTMLInputElement>();
  const dialog = element('dialog', {
    'aria-labelledby': 'settings-title',
    part: 'dialog',
    lang: configuration.language,
    dir: configuration.direction,
  });
  const close = (): void => dialog.close();
  const chosen = (): Record<string, boolean> =>
    Object.fromEntries([...choices].map(([key, { checked }]) => [key, checked]));
  dialog.append(
    element(
      'div',
      { class: 'row head' },
      element('h2', { id: 'settings-title' }, texts.title()),
      element('div', { class: 'row' }, ...texts.languageChoice(actions.setLanguage), texts.button('close', '', close)),
    ),
    element('p', {}, configuration.banner.text ?? ''),
    ...configuration.categories.map((category) => categorySection(consent, texts, category, choices)),
    policySection(consent, texts),
    element('p', {}, isolated(configuration.controller.legal_name), ', ', isolated(configuration.controller.contact)),
    element('p', {}, configuration.withdrawal ?? '', ...proofLink(consent, texts)),
    element(
      'div',
      { class: 'row end' },
      texts.button('save', 'choice', () => actions.choose(chosen())),
      ...actions.choiceButtons,
    ),
  );
  return dialog;
}

/** The link to the page on which the visitor checks the recorded choice; empty until the service accepts it. */
function proofLink({ proofPage }: Consent, texts: BannerTexts): readonly (Node | string)[] {
  return proofPage === null ? [] : [' ', texts.control('a', 'proof', { href: proofPage, target: '_blank' })];
}

function categorySection(
  consent: Consent,
  texts: BannerTexts,
  { key, required, title, purpose, recipients, cookies }: KnownCategory,
  choices: Map<string, HTMLInputElement>,
): HTMLElement {
  const description = `purpose-${key}`;
  const section = element('div', { class: 'category', part: 'category' });
  if (required) {
    const always = texts.control('span', 'always_on');
    section.append(element('div', { class: 'row head' }, element('h3', {}, title), always));
  } else {
    const input = element('input', { type: 'checkbox', 'aria-describedby': description });
    input.checked = consent.state.choice?.categories[key] === true;
    choices.set(key, input);
    section.append(element('label', {}, input, title));
  }
  const names = recipients.flatMap((name, i) => [i === 0 ? ' — ' : ', ', isolated(name)]);
  section.append(element('p', { id: description }, purpose, ...names));
  if (cookies.length > 0) {
    const { text, language } = texts.label('cookies');
    const items = cookies.map(({ name, provider, purpose: use, duration_seconds: seconds }) =>
      element(
        'li',
        {},
        isolated(name),
        ' — ',
        isolated(provider),
        `: ${use}`,
        lifetime(seconds, texts.configuration.language),
      ),
    );
    section.append(
      element(
        'details',
        {},
        element('summary', { lang: language }, `${text} (${cookies.length})`),
        element('ul', {}, ...items),
      ),
    );
  }
  return section;
}

/** A name in its own direction: its marks stay with it in a text of the other direction. */
function isolated(name: string): HTMLElement {
  return element('bdi', {}, name);
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

/** The text to which the consent refers, read when the visitor opens it. */
function policySection(consent: Consent, { configuration }: BannerTexts): HTMLElement {
  const policy = cookiePolicyOf(configuration);
  if (policy === undefined) return element('div');
  const text = element('div', { class: 'text', lang: policy.version.language });
  const details = element('details', {}, element('summary', {}, policy.version.title), text);
  details.addEventListener(
    'toggle',
    () => {
      consent.document(policy.slug).then(
        ({ version, content }) => {
          // Other types would need a viewer: the site links to its own page for them.
          if (version.media_type.startsWith('text/'))
            text.textContent = version.media_type === 'text/html' ? plain(content) : content;
        },
        ({ message }: Error) => {
          text.textContent = message;
        },
      );
    },
    { once: true },
  );
  return details;
}

/** The text of a document in HTML. Nothing of it is inserted into the page. */
function plain(html: string): string {
  try {
    return new DOMParser().parseFromString(html, 'text/html').body.textContent ?? '';
  } catch {
    // The page requires trusted types.
    return html;
  }
}
