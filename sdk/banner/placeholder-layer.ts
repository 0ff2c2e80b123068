import { isolated, labelOf } from './controls.js';
import { type Drawn, type DrawnElement, draw } from './drawn.js';
import { hostStyle, schemesOf } from './style.js';
import type { Appearance, BannerView, ViewedCategory, ViewedService } from './view.js';

/** Controls of the placeholder with which the visitor decides, in their order. */
export const PLACEHOLDER_CONTROLS = ['load_once', 'allow_all'] as const;

/** What a placeholder says about the content that waits. */
export interface PlaceholderState {
  /** What is embedded, as the page names it. */
  readonly title: string;
  /** Who gets data when it loads. */
  readonly recipient: string;
  /** The optional categories that the visitor would permit for it. */
  readonly categories: readonly ViewedCategory[];
  /** The services that the visitor would permit alone, instead of their categories. */
  readonly services: readonly ViewedService[];
  /** Address of a picture behind it, or undefined if there is none. */
  readonly image: string | undefined;
  /** Whether the content can be loaded once. */
  readonly canLoadOnce: boolean;
  /**
   * `counts` means that permitting counts at once; `asks`, that the question is open, so that permitting leads to the
   * settings; `nowhere`, that the question is open and the page has no settings.
   */
  readonly permitting: 'counts' | 'asks' | 'nowhere';
}

/** What a page shows in place of embedded content that waits for consent. */
export function placeholderLayer(view: BannerView, state: PlaceholderState): DrawnElement {
  const { title, recipient, image, canLoadOnce, permitting } = state;
  const receives = labelOf(view, 'receives');
  const once = labelOf(view, 'load_once');
  return draw(
    'div',
    { class: 'frame', lang: view.language, dir: view.direction },
    image === undefined ? [] : draw('img', { src: image, alt: '' }),
    draw(
      'div',
      { class: 'panel', role: 'group', 'aria-labelledby': 'title', 'aria-describedby': 'receives', part: 'panel' },
      draw('p', { id: 'title', dir: 'auto' }, title),
      draw('p', { id: 'receives', lang: receives.language }, filled(receives.text, [isolated(recipient)])),
      draw(
        'div',
        { class: 'choices' },
        canLoadOnce ? choice('load-once', once.language, [once.text]) : [],
        permitting === 'nowhere' ? [] : permission(view, state),
      ),
    ),
  );
}

/** The button that permits the categories, or the services alone. It names all that it permits. */
function permission(view: BannerView, { categories, services, permitting }: PlaceholderState): DrawnElement {
  const { text, language } = labelOf(view, categories.length === 0 ? 'allow' : 'allow_all');
  const receivers = new Set([...categories.flatMap((one) => [...one.recipients, ...namesOf(one.services)])]);
  const named = [
    ...listed(categories.map(({ title }) => draw('bdi', { lang: view.language }, title))),
    ...(receivers.size === 0 ? [] : [': ', ...listed([...receivers].map(isolated))]),
    ...listed(namesOf(services).map(isolated)),
  ];
  // Three dots: another step follows.
  const more = permitting === 'asks' ? ['…'] : [];
  return choice('allow-all', language, [...filled(text, named), ...more], permitting === 'asks');
}

function namesOf(services: readonly ViewedService[] = []): readonly string[] {
  return services.map(({ name }) => name);
}

function choice(part: string, language: string, content: readonly Drawn[], opensSettings = false): DrawnElement {
  return draw(
    'button',
    {
      type: 'button',
      part,
      lang: language,
      'aria-describedby': 'title',
      'data-consent-settings': opensSettings && '',
    },
    content,
  );
}

/** A text with `{0}` replaced. If a site's own text has no such place, the value follows the text. */
function filled(text: string, content: readonly Drawn[]): readonly Drawn[] {
  const [before = '', after = ''] = text.includes('{0}') ? text.split('{0}') : [`${text} `];
  return [before, ...content, after];
}

function listed(drawn: readonly Drawn[]): readonly Drawn[] {
  return drawn.flatMap((one, i) => (i === 0 ? [one] : [', ', one]));
}

/** The style inside the shadow root of a placeholder. The page changes it in the same way as that of the banner. */
export function placeholderStyle(appearance: Appearance, scheme: Appearance['scheme']): string {
  return `${hostStyle(appearance, scheme)}\
:host{display:inline-grid;position:relative;box-sizing:border-box;max-width:100%;font:medium/1.5 var(--cl-font);color:var(--cl-text);background:var(--cl-background);border:1px solid var(--cl-border);border-radius:var(--cl-radius);color-scheme:${schemesOf(scheme)}}\
:host([hidden]){display:none}\
*{box-sizing:border-box;overflow-wrap:anywhere}\
.frame{display:grid;place-items:center;min-width:0;padding:.75em;border-radius:inherit}\
img{position:absolute;inset:0;width:100%;height:100%;object-fit:cover;border-radius:inherit}\
.panel{position:relative;max-width:min(34em,100%);padding:1em;text-align:center;background:var(--cl-background);border-radius:var(--cl-radius)}\
img+.panel{border:1px solid var(--cl-border)}\
p{margin:0 0 .75em}\
#title{font-weight:600;margin-bottom:.25em}\
.choices{display:grid;grid-template-columns:repeat(auto-fit,minmax(min(100%,10em),1fr));grid-auto-rows:1fr;gap:.5em}\
button{font:inherit;font-weight:600;min-height:2.75em;padding:.25em 1em;cursor:pointer;color:var(--cl-on-accent);background:var(--cl-accent);border:2px solid var(--cl-accent);border-radius:var(--cl-radius)}\
:focus-visible{outline:3px solid var(--cl-accent);outline-offset:2px}\
@media print{button{display:none}}`;
}
