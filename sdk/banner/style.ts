import type { Appearance, Palette } from './view.js';

/** Surroundings that a drawing states instead of asking the browser. */
export interface Surroundings {
  readonly scheme: 'light' | 'dark';
  readonly size: 'phone' | 'tablet' | 'desktop';
}

const FONTS: Readonly<Record<Appearance['font'], string>> = {
  system: 'system-ui,sans-serif',
  serif: 'ui-serif,Georgia,serif',
  monospace: 'ui-monospace,monospace',
};

/** Both layers, on every size. */
const SHARED = `\
*{box-sizing:border-box}\
.first,.settings,.open,.said{font:1rem/1.5 var(--cl-font);color:var(--cl-text);background:var(--cl-background);border:1px solid var(--cl-border);overflow-wrap:anywhere}\
.first,.settings{border-radius:var(--cl-radius);padding:1.25rem}\
h2{font-size:1.2rem;line-height:1.3;margin:0 0 .35rem}\
h2:focus{outline:0}\
h3{font-size:1rem;margin:0}\
p{margin:0 0 .75rem}\
ul{margin:.25rem 0;padding-inline-start:1.25rem}\
.row{display:flex;flex-wrap:wrap;gap:.5rem;align-items:center}\
.head{justify-content:space-between;align-items:flex-start;margin-bottom:.25rem}\
.choices{display:flex;flex-wrap:wrap;gap:.5rem;background:inherit}\
.choices>*{flex:1 1 9rem}\
.choices>:not(.choice){flex-basis:100%}\
.small{display:flex;flex-wrap:wrap;gap:.1rem 1rem;align-items:center;font-size:.875rem;margin:.5rem 0 0}\
.category{border-top:1px solid var(--cl-border);padding-block:.75rem}\
.text{margin-bottom:.75rem;white-space:pre-wrap}\
label{display:flex;gap:.5rem;align-items:center;font-weight:600}\
input{width:1.5rem;height:1.5rem;margin:0;flex:none;accent-color:var(--cl-accent)}\
button,select,summary{font:inherit}\
button,select,summary,label{min-height:2.75rem;cursor:pointer}\
button,select{color:inherit;background:transparent;border:2px solid var(--cl-accent);border-radius:var(--cl-radius);padding:.25rem 1rem}\
.choice{color:var(--cl-on-accent);background:var(--cl-accent);font-weight:600;min-width:9rem}\
[part=reject]{color:var(--cl-on-reject);background:var(--cl-reject);border-color:var(--cl-reject)}\
select{border:1px solid var(--cl-border);padding:.25rem .5rem}\
.link{border:0;padding:0;text-decoration:underline}\
a{color:inherit}\
summary{display:list-item;padding-block:.6rem}\
:focus-visible{outline:3px solid var(--cl-accent);outline-offset:2px}\
.foot{margin:.75rem -1.25rem -1.25rem;padding:.75rem 1.25rem 1.25rem;border-top:1px solid var(--cl-border);border-radius:inherit}`;

/** The question on a wide screen. */
const WIDE = `\
.bar{display:grid;grid-template-columns:1fr minmax(18rem,auto);column-gap:2rem;padding-inline:max(1.25rem,calc(50% - 36rem))}\
.bar .choices{grid-column:2;grid-row:1/4;align-self:center;max-width:24rem}\
.bar>*{grid-column:1}`;

/** On a narrow screen the buttons that accept and refuse stay side by side, of one size. */
const NARROW = '.foot>[part=save]{flex-basis:100%}';

/** On a page: places, sizes of the window, motion and paper. */
const PLACED = `\
.first{position:fixed;z-index:2147483646;max-height:85vh;overflow:auto;box-shadow:0 2px 16px #0005}\
.bar{bottom:0;inset-inline:0;border-width:1px 0 0;border-radius:0}\
.box{bottom:1rem;width:min(26rem,calc(100% - 2rem))}\
.box.start,.open.start{inset-inline-start:1rem}\
.box.end,.open.end{inset-inline-end:1rem}\
dialog{width:min(44rem,calc(100% - 1rem));max-height:calc(100% - 2rem)}\
.dialog{width:min(34rem,calc(100% - 1rem))}\
dialog::backdrop{background:#000a}\
.open{position:fixed;bottom:.75rem;z-index:2147483645;min-height:2.25rem;padding:.1rem .75rem;font-size:.875rem;border-color:var(--cl-accent)}\
.said{position:fixed;bottom:4rem;inset-inline:0;z-index:2147483647;width:max-content;max-width:calc(100% - 2rem);margin-inline:auto;padding:.6rem 1.25rem;border-radius:var(--cl-radius);box-shadow:0 2px 16px #0005}\
.said:not(.seen){width:1px;height:1px;padding:0;border:0;overflow:hidden;clip-path:inset(50%)}\
@media (max-height:24rem){.first:not(dialog){position:static;max-height:none;width:auto}}\
@media (min-height:24.01rem){.first .choices,.foot{position:sticky;bottom:-1.25rem;padding-block:.5rem 1.25rem;margin-bottom:-1.25rem}.first .choices{margin-bottom:0;padding-bottom:.5rem}dialog{scroll-padding-bottom:9rem}}\
@media (prefers-reduced-motion:no-preference){.first:not(dialog),.seen{animation:cl .25s ease-out}@keyframes cl{from{transform:translateY(1rem)}}}\
@media (min-width:48rem){${WIDE}}\
@media (max-width:32rem){${NARROW}}\
@media print{:host{display:none!important}}`;

/** In a drawing: the question in its place on an empty page, which grows with it. */
const DRAWN = `\
:host{display:flex;overflow:hidden;flex-direction:column;justify-content:flex-end;min-height:20rem;background:#9ca3af33;border:1px solid #9ca3af;break-inside:avoid}\
dialog{display:block;position:static;max-width:100%;margin:1.5rem auto;width:min(44rem,calc(100% - 1rem))}\
.dialog{width:min(34rem,calc(100% - 1rem))}\
.bar{border-width:1px 0 0;border-radius:0}\
.box{width:min(26rem,calc(100% - 2rem));margin:1rem}\
.box.end{align-self:flex-end}\
button,select,summary,label{cursor:default}\
input{opacity:1}\
[data-used]{outline:4px solid #d6006c;outline-offset:3px}`;

/**
 * The style of the banner inside its shadow root. A page changes the custom properties on
 * `consent-banner`, or styles the parts.
 * @param surroundings of a drawing; absent on a page, which asks the browser
 */
export function bannerStyle(appearance: Appearance, surroundings?: Surroundings): string {
  const { light, dark, radius, font } = appearance;
  const scheme = surroundings?.scheme ?? appearance.scheme;
  const schemes = scheme === 'auto' ? 'light dark' : scheme;
  const host = `:host{all:initial;color-scheme:${schemes};--cl-radius:${radius}px;--cl-font:${FONTS[font]};${colours(scheme === 'dark' ? dark : light)}}`;
  const other = scheme === 'auto' ? `@media (prefers-color-scheme:dark){:host{${colours(dark)}}}` : '';
  const drawn = `${DRAWN}${surroundings?.size === 'phone' ? `:host{max-width:24.375rem}${NARROW}` : WIDE}`;
  return host + other + SHARED + (surroundings === undefined ? PLACED : drawn);
}

function colours({ background, text, border, accept, on_accept, reject, on_reject }: Palette): string {
  // A page that changes the one colour changes both buttons: neither stands out.
  const refusing =
    reject === accept && on_reject === on_accept
      ? '--cl-reject:var(--cl-accent);--cl-on-reject:var(--cl-on-accent)'
      : `--cl-reject:${reject};--cl-on-reject:${on_reject}`;
  return `--cl-background:${background};--cl-text:${text};--cl-border:${border};--cl-accent:${accept};--cl-on-accent:${on_accept};${refusing}`;
}
