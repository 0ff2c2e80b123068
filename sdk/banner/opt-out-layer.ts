import { labelOf } from './controls.js';
import { type DrawnElement, draw } from './drawn.js';
import { hostStyle, schemesOf } from './style.js';
import type { Appearance, BannerView } from './view.js';

/** The controls of the dialog with which the visitor decides: one of them at a time. */
export type OptOutControl = 'do_not_sell' | 'allow_sale';

/** Whether the visitor opted out of sale and sharing, and by what. */
export type OptOutState = 'opted_out' | 'opted_out_by_signal' | 'not_opted_out';

/** Returns the control that changes a state. */
export function controlOf(state: OptOutState): OptOutControl {
  return state === 'not_opted_out' ? 'do_not_sell' : 'allow_sale';
}

/** The dialog that the link "Your Privacy Choices" opens: the state, and one button that changes it. */
export function optOutLayer(view: BannerView): DrawnElement {
  const title = labelOf(view, 'privacy_choices');
  const close = labelOf(view, 'close');
  return draw(
    'dialog',
    { lang: view.language, dir: view.direction, 'aria-labelledby': 'title', part: 'opt-out' },
    draw('h2', { id: 'title', lang: title.language, tabindex: '-1' }, title.text),
    draw('p', { role: 'status' }),
    draw(
      'div',
      { class: 'choices' },
      draw('button', { type: 'button', class: 'choice' }),
      draw('button', { type: 'button', part: 'close', lang: close.language }, close.text),
    ),
  );
}

/** The style inside the shadow root of the dialog. The page changes it in the same way as that of the banner. */
export function optOutStyle(appearance: Appearance, scheme: Appearance['scheme']): string {
  return `${hostStyle(appearance, scheme)}\
:host{all:initial!important;color-scheme:${schemesOf(scheme)}!important}\
*{box-sizing:border-box;overflow-wrap:anywhere}\
dialog{font:medium/1.5 var(--cl-font);color:var(--cl-text);background:var(--cl-background);border:1px solid var(--cl-border);border-radius:var(--cl-radius);padding:1.25em;width:min(34em,calc(100% - 1em));max-height:calc(100% - 2em)}\
dialog::backdrop{background:#000a}\
h2{font-size:1.2em;line-height:1.3;margin:0 0 .3em}\
h2:focus{outline:0}\
p{margin:0 0 .75em}\
.choices{display:flex;flex-wrap:wrap;gap:.5em}\
button{flex:1 1 8em;font:inherit;min-height:2.75em;padding:.25em 1em;cursor:pointer;color:inherit;background:transparent;border:2px solid var(--cl-accent);border-radius:var(--cl-radius)}\
.choice{flex-grow:2;font-weight:600;color:var(--cl-on-accent);background:var(--cl-accent)}\
:focus-visible{outline:3px solid var(--cl-accent);outline-offset:2px}\
@media print{:host{display:none!important}}`;
}
