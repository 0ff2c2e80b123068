import { button, details, titleOf } from './controls.js';
import { type DrawnElement, draw } from './drawn.js';
import type { BannerView } from './view.js';

/** Controls of the first layer with which the visitor decides, in their order. */
export const FIRST_LAYER_CONTROLS = ['accept', 'reject', 'settings'] as const;

/** The question: title, text, the choices, who asks, and the policy. */
export function firstLayer(view: BannerView): DrawnElement {
  const { appearance, banner, language, direction } = view;
  const { layout, side } = appearance;
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
      draw('p', {}, banner.text ?? ''),
      details(view, true),
    ),
    draw(
      'div',
      { class: 'choices' },
      button(view, 'accept', 'choice'),
      button(view, 'reject', 'choice'),
      button(view, 'settings'),
    ),
  );
}
