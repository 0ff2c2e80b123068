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

/** The parts of a style that are specific to one version of the layouts, for a drawing. */
export interface Sheets {
  readonly shared: string;
  readonly wide: string;
  readonly narrow: string;
  readonly drawn: string;
}

/**
 * Both layers, on every size. Sizes are those of the browser's own text (`medium`), regardless of the page's root size.
 */
const SHARED = `\
*{box-sizing:border-box}\
.first,.settings,.corner,.said{font:medium/1.5 var(--cl-font);overflow-wrap:anywhere}\
.first,.settings,.corner>*,.said{color:var(--cl-text);background:var(--cl-background);border:1px solid var(--cl-border)}\
.first,.settings{border-radius:var(--cl-radius);padding:1.25em}\
h2{font-size:1.2em;line-height:1.3;margin:0 0 .3em}\
[tabindex="-1"]:focus{outline:0}\
h3{font-size:1em;margin:0}\
p{margin:0 0 .75em}\
ul{margin:0;padding-inline-start:1.25em}\
.services{list-style:none}\
li>label{display:inline-flex;align-items:baseline;font:inherit}\
.head{display:flex;flex-wrap:wrap;gap:.5em;justify-content:space-between}\
:is(section,[open]).first{display:flex;flex-direction:column;gap:.75em}\
.words{flex:1;overflow:auto;padding:5px;margin:-5px}\
.choices{display:flex;flex:none;flex-wrap:wrap;gap:.5em;background:inherit}\
.choices>*{flex:1 1 8em}\
.small{display:flex;flex-wrap:wrap;gap:.1em 1em;align-items:center;font-size:.875em;margin:.5em 0 0}\
.category{border-top:1px solid var(--cl-border);padding-block:.75em}\
.text,[part=account]{white-space:pre-wrap}\
label{display:flex;gap:.5em;align-items:center;font-weight:600}\
input{width:1.5em;height:1.5em;margin:0;flex:none;accent-color:var(--cl-accent)}\
button,select,summary{font:inherit}\
button,select,summary,label{min-height:2.75em;cursor:pointer}\
button,select{color:inherit;background:transparent;border:2px solid var(--cl-accent);border-radius:var(--cl-radius);padding:.25em 1em}\
.choice{color:var(--cl-on-accent);background:var(--cl-accent);font-weight:600}\
.choice[part=reject]{color:var(--cl-on-reject);background:var(--cl-reject);border-color:var(--cl-reject)}\
select{border:1px solid var(--cl-border)}\
.link{border:0;padding:0;text-decoration:underline}\
a{color:inherit}\
summary{display:list-item;padding-block:.6em}\
:focus-visible{outline:3px solid var(--cl-accent);outline-offset:2px}\
.foot{margin:.75em -1.25em -1.25em;padding:.75em 1.25em 1.25em;border-top:1px solid var(--cl-border);border-radius:inherit}`;

/** The question on a wide screen. */
const WIDE = `\
.first.bar{flex-direction:row;gap:2em;padding-inline:max(1.25em,calc(50% - 36em))}\
.bar>.choices{width:24em;align-self:center}`;

/** On a narrow screen the buttons that accept and refuse stay side by side, of one size. */
const NARROW = '.foot>[part=save]{flex-basis:100%}.first{padding:.75em}';

/**
 * On a page, whose rules for what its body contains must not count: places, sizes of the window, notches and home indicators, motion and paper. A bar reaches behind them
 * with its border, which has the colour of its background. Bar and box leave a third of every window to the page.
 */
const PLACED = `\
:host{all:initial!important;position:absolute!important;inset:0 0 auto!important;z-index:2147483647!important;--i:max(env(safe-area-inset-left),env(safe-area-inset-right));--b:env(safe-area-inset-bottom)}\
.first{position:fixed;max-height:66%;overflow:auto;box-shadow:0 2px 16px #0005}\
.bar{bottom:0;inset-inline:0;border-width:1px var(--i) var(--b);border-color:var(--cl-border) var(--cl-background) var(--cl-background);border-radius:0}\
.box{bottom:calc(1em + var(--b));max-height:calc(66% - 1em);width:min(26em,calc(100% - 2em - 2*var(--i)))}\
.box.start,.corner.start{inset-inline-start:calc(1em + var(--i))}\
.box.end,.corner.end{inset-inline-end:calc(1em + var(--i))}\
.settings,.dialog{inset:env(safe-area-inset-top) 0 var(--b);width:min(44em,calc(100% - 1em - 2*var(--i)));max-height:calc(100% - 2em - env(safe-area-inset-top) - var(--b))}\
.dialog{max-width:34em}\
dialog::backdrop{background:#000a}\
.corner{position:fixed;bottom:calc(.75em + var(--b));max-width:min(34em,calc(100% - 2em - 2*var(--i)));display:flex;flex-wrap:wrap;gap:.5em}\
.corner>*{min-height:2.5em;margin:0;padding:.1em .75em;font-size:.875em;border:2px solid var(--cl-accent);border-radius:var(--cl-radius)}\
.said{position:fixed;bottom:calc(4em + var(--b));inset-inline:0;z-index:1;width:max-content;max-width:calc(100% - 2em);margin-inline:auto;padding:.6em 1.25em;border-radius:var(--cl-radius);box-shadow:0 2px 16px #0005}\
.said:not(.seen){clip-path:inset(50%)}\
@media (max-height:24em){.first .choices>*{flex-basis:5em;padding-inline:.5em}}\
@media (min-height:24.01em){.foot{position:sticky;bottom:-1.25em}dialog{scroll-padding-bottom:9em}}\
@media (min-width:48em){${WIDE}}\
@media (max-width:32em){${NARROW}}\
@media print{:host{display:none!important}}`;

/** In a drawing: the question in its place on an empty page, which grows with it. */
const SHEETS: Sheets = {
  shared: SHARED,
  wide: WIDE,
  narrow: NARROW,
  drawn: `\
:host{display:flex;overflow:hidden;flex-direction:column;justify-content:flex-end;min-height:20em;background:#9ca3af33;border:1px solid #9ca3af;break-inside:avoid}\
dialog{display:block;position:static;max-width:100%;margin:1.5em auto;width:min(44em,calc(100% - 1em))}\
.dialog{width:min(34em,calc(100% - 1em))}\
.bar{border-width:1px 0 0;border-radius:0}\
.box{width:min(26em,calc(100% - 2em));margin:1em}\
.box.end{align-self:flex-end}\
button,select,summary,label{cursor:default}\
a{text-decoration:underline}\
input{opacity:1}\
[data-used]{outline:4px solid #d6006c;outline-offset:3px}`,
};

/**
 * The style of the banner inside its shadow root. A page changes the custom properties on
 * `consent-banner`, or styles the parts.
 */
export function bannerStyle(appearance: Appearance, scheme: Appearance['scheme']): string {
  return `${hostStyle(appearance, scheme) + SHARED + PLACED}:host{color-scheme:${schemesOf(scheme)}!important}`;
}

/**
 * The style of a drawing, which states what a page asks the browser.
 * @param sheets the style sheets of the layout's version
 */
export function drawnStyle(appearance: Appearance, { scheme, size }: Surroundings, sheets: Sheets = SHEETS): string {
  const { shared, wide, narrow, drawn } = sheets;
  const sized = size === 'phone' ? `:host{max-width:24.375rem}${narrow}` : wide;
  return hostStyle(appearance, scheme) + shared + drawn + sized;
}

/** Colours, corners and font of a look, for the host of a shadow root. */
export function hostStyle({ light, dark, radius, font }: Appearance, scheme: Appearance['scheme']): string {
  const host = `:host{all:initial;color-scheme:${schemesOf(scheme)};--cl-radius:${radius}px;--cl-font:${FONTS[font]};${colours(scheme === 'dark' ? dark : light)}}`;
  const other = scheme === 'auto' ? `@media (prefers-color-scheme:dark){:host{${colours(dark)}}}` : '';
  return host + other;
}

/** The colour schemes of a look, as CSS names them. */
export function schemesOf(scheme: Appearance['scheme']): string {
  return scheme === 'auto' ? 'light dark' : scheme;
}

function colours({ background, text, border, accept, on_accept, reject, on_reject }: Palette): string {
  // A page that changes this one colour changes both buttons, so that neither stands out.
  const refusing =
    reject === accept && on_reject === on_accept
      ? '--cl-reject:var(--cl-accent);--cl-on-reject:var(--cl-on-accent)'
      : `--cl-reject:${reject};--cl-on-reject:${on_reject}`;
  return `--cl-background:${background};--cl-text:${text};--cl-border:${border};--cl-accent:${accept};--cl-on-accent:${on_accept};${refusing}`;
}
