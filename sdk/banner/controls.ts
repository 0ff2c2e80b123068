import { type Drawn, type DrawnElement, draw } from './drawn.js';
import type { BannerView, Label } from './view.js';

/** Returns the text of a control, or its name if the service is older than this control. */
export function labelOf({ labels }: Pick<BannerView, 'labels'>, name: string): Label {
  return labels[name] ?? { text: name, language: 'en' };
}

/** Title of the configuration, or else of the cookie policy. */
export function titleOf({ banner, policy }: BannerView): string {
  return banner.title ?? policy?.title ?? '';
}

/** Whether nothing waits for consent, and something is exempt from it, so that the visitor is informed and not asked. */
export function isInformation({ categories }: Pick<BannerView, 'categories'>): boolean {
  return categories.some(({ rule }) => rule === 'exempt') && categories.every(({ required, rule }) => required || rule);
}

/**
 * The text of the configuration; nothing where nobody is asked, since it is the words of a question. After it, what the
 * choice of the account means.
 */
export function questionOf(view: BannerView): readonly Drawn[] {
  return [isInformation(view) ? [] : draw('p', {}, view.banner.text ?? ''), statement('account', view.account)].flat();
}

/** A paragraph, or nothing if there is nothing to say. @param role `status` if a screen reader announces it */
export function statement(part: string, label: Label | undefined, role?: string): Drawn | readonly Drawn[] {
  return label ? draw('p', { role, part, lang: label.language }, label.text) : [];
}

/** An element with a label, in the label's language. */
export function control(
  view: BannerView,
  tag: string,
  name: string,
  attributes: Readonly<Record<string, string>> = {},
): DrawnElement {
  const { text, language } = labelOf(view, name);
  return draw(tag, { ...attributes, part: name.replace('_', '-'), ...inLanguage(view, language) }, text);
}

/** Language of a text, and its direction if it is not in the language of the banner. */
export function inLanguage(view: BannerView, language: string): Readonly<Record<string, string | false>> {
  return { lang: language, dir: language !== view.language && 'auto' };
}

/** A button whose `part` names its action. */
export function button(view: BannerView, name: string, look = ''): DrawnElement {
  return control(view, 'button', name, { type: 'button', class: look });
}

/** The controller, the policy, and the languages of the site: smaller than the question. */
export function details(view: BannerView, hasPolicy: boolean): DrawnElement {
  const { controller, policy } = view;
  return draw(
    'p',
    { class: 'small' },
    isolated(controller.legal_name),
    isolated(controller.contact),
    policy === null || !hasPolicy
      ? []
      : draw(
          'button',
          { type: 'button', class: 'link', part: 'policy', ...inLanguage(view, policy.language) },
          policy.title,
        ),
    languageChoice(view),
  );
}

/** A choice among the languages of the site. Nothing is shown if there is only one. */
export function languageChoice(view: BannerView): Drawn | readonly Drawn[] {
  const { language, languages } = view;
  if (languages.length < 2) return [];
  const options = languages.map((tag) =>
    draw('option', { value: tag, lang: tag, selected: tag === language }, ownName(tag)),
  );
  return draw('select', { 'aria-label': labelOf(view, 'language').text, part: 'language' }, options);
}

/** Returns the name of a language in that language. For a tag that the browser does not know, returns the tag. */
function ownName(language: string): string {
  try {
    return new Intl.DisplayNames(language, { type: 'language' }).of(language) ?? language;
  } catch {
    return language;
  }
}

/** Isolates a name, so that its punctuation stays with it in a text of the other direction. */
export function isolated(name: string): Drawn {
  return draw('bdi', {}, name);
}
