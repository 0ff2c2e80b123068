import { button, details, isInformation, questionOf, titleOf } from './controls.js';
import { type DrawnElement, draw } from './drawn.js';
import type { BannerView } from './view.js';

/**
 * Controls of the first layer with which the visitor decides, in their order. Where nothing waits for consent, and it
 * says what is exempt from it, one press objects.
 */
export function firstLayerControls(view: Pick<BannerView, 'categories'>): readonly string[] {
  return [...(isInformation(view) ? ['close', 'object'] : ['accept', 'reject']), 'settings'];
}

/** The question: title, text, what runs without consent and why, the choices, who asks, and the policy. */
export function firstLayer(view: BannerView): DrawnElement {
  const {
    appearance: { layout, side },
    categories,
    language,
    direction,
  } = view;
  return draw(
    // A layer that covers the middle of a page is modal, so that nothing behind it can have the focus.
    layout === 'dialog' ? 'dialog' : 'section',
    {
      class: `first ${layout} ${side}`,
      'aria-labelledby': 'banner-title',
      part: 'banner',
      lang: language,
      dir: direction,
    },
    // Long texts scroll beside the buttons, which always remain visible. In a modal dialog the text takes the focus,
    // because otherwise the first button, which accepts, would have it.
    draw(
      'div',
      { class: 'words', tabindex: '-1' },
      draw('h2', { id: 'banner-title' }, titleOf(view)),
      questionOf(view),
      categories.flatMap(({ title, ground }) => (ground === undefined ? [] : draw('p', {}, `${title}: ${ground}`))),
      details(view, true),
    ),
    draw(
      'div',
      { class: 'choices' },
      firstLayerControls(view).map((name) => button(view, name, name === 'settings' ? '' : 'choice')),
    ),
  );
}
