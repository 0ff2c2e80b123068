import { isolated, labelOf, languageChoice } from '../controls.js';
import { type DrawnElement, draw } from '../drawn.js';
import type { BannerView } from '../view.js';

/** The pieces that version 2 drew in another way, as they were frozen. Never change them. */

/** An element with a label, in the label's language. */
export function control(
  view: BannerView,
  tag: string,
  name: string,
  attributes: Readonly<Record<string, string>> = {},
): DrawnElement {
  const { text, language } = labelOf(view, name);
  return draw(tag, { ...attributes, part: name.replace('_', '-'), lang: language }, text);
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
    draw('span', {}, isolated(controller.legal_name), ', ', isolated(controller.contact)),
    ...(policy === null || !hasPolicy
      ? []
      : [draw('button', { type: 'button', class: 'link', part: 'policy', lang: policy.language }, policy.title)]),
    languageChoice(view),
  );
}
