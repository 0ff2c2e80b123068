import { titleOf } from '../controls.js';
import { type DrawnElement, draw } from '../drawn.js';
import type { BannerView } from '../view.js';
import { button, details } from './controls.js';

/** The question of version 2, as it was frozen. Never change it. */
export function firstLayerOfVersion2(view: BannerView): DrawnElement {
  const { appearance, banner, language, direction } = view;
  const { layout, side } = appearance;
  return draw(
    // A layer that covers the middle of a page is modal, so that nothing that it covers has the focus.
    layout === 'dialog' ? 'dialog' : 'section',
    {
      class: `first ${layout} ${side}`,
      'aria-labelledby': 'banner-title',
      part: 'banner',
      lang: language,
      dir: direction,
    },
    // It takes the focus of a modal dialog, because otherwise the first button, which accepts, would have it.
    draw('h2', { id: 'banner-title', tabindex: layout === 'dialog' && '-1' }, titleOf(view)),
    draw('p', { class: 'question' }, banner.text ?? ''),
    draw(
      'div',
      { class: 'choices' },
      button(view, 'accept', 'choice'),
      button(view, 'reject', 'choice'),
      button(view, 'settings'),
    ),
    details(view, true),
  );
}
