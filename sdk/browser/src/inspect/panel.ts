import { styleRoot } from '../../../banner/dom.js';
import { factsOf, gatedOf, type InspectedConsent, nameOf, valuesOf } from './facts.js';
import { type Facts, type Finding, findingOf, WITHOUT_SDK } from './finding.js';
import { NetworkLog } from './network-log.js';
import { PANEL_STYLE } from './panel-style.js';
import { REGIONS } from './regions.js';
import { startTrial } from './trial.js';

const NAME = 'consent-inspector';
/** Closes a panel that is open, also one of an earlier load of this file. */
const CLOSE = 'consent-inspector-close';
const GATED = '[data-consent],[data-consent-service],[data-consent-src]';
/** The browser keeps no more, and it may have forgotten the file. */
const MOST_ENTRIES = 250;
const MARKS: Readonly<Record<Finding['kind'], string>> = { open: 'Open', waits: 'Waits', wrong: 'Wrong' };

/** A panel for developers on a page with the SDK. It records nothing, and ends with `close`. */
export class Panel {
  readonly host = document.createElement(NAME);
  readonly #root = this.host.attachShadow({ mode: 'open' });
  readonly #consent: InspectedConsent | undefined;
  readonly #service: string;
  readonly #log: NetworkLog;
  readonly #observer = new MutationObserver(() => this.#drawSoon());
  #unsubscribe: () => void = () => undefined;
  #isDrawing = false;
  readonly #values = make('dl');
  readonly #elements = make('ol');
  readonly #requests = make('ol');
  readonly #said = make('ol');
  readonly #trial = make('div', { class: 'trial' });

  /** @param service origin of the service */
  constructor(consent: InspectedConsent | undefined, service: string) {
    this.#consent = consent;
    this.#service = service;
    // An earlier panel gives the page its own `fetch` back before this one takes it.
    document.querySelector(NAME)?.dispatchEvent(new Event(CLOSE));
    this.#log = new NetworkLog(service, () => this.#drawSoon());
    styleRoot(this.#root, PANEL_STYLE, scriptOf()?.nonce);
    const close = make('button', { type: 'button' }, 'Close');
    close.addEventListener('click', () => this.close());
    this.host.addEventListener(CLOSE, () => this.close());
    const body = make(
      'div',
      { class: 'body', tabindex: '0', role: 'group', 'aria-label': 'Findings' },
      make('h3', {}, 'Elements'),
      this.#elements,
      note('Scripts that ran are ordinary scripts since then, and are not listed.'),
      make('h3', {}, 'State'),
      this.#values,
      make('h3', {}, 'Requests to the service'),
      this.#requests,
      note(
        'What was sent and answered before this panel was loaded is not known: the browser keeps names and times alone, and at most 250 of them. Requests of other tabs and of the server of the page are not seen.',
      ),
      make('h3', {}, 'Try another visitor'),
      this.#form(),
      make('div', { role: 'status' }, this.#said),
      this.#trial,
    );
    const top = make('div', { class: 'top' }, make('h2', { id: 'title' }, 'Consent inspector'), close);
    this.#root.append(make('section', { 'aria-labelledby': 'title' }, top, body));
  }

  /** Puts the panel on the page, in place of an earlier one. */
  open(): void {
    document.body.append(this.host);
    // The banner is in the top layer, and would cover it.
    if ('popover' in this.host) {
      this.host.popover = 'manual';
      this.host.showPopover();
    }
    this.#observer.observe(document, { childList: true, subtree: true, attributes: true });
    this.#unsubscribe = this.#consent?.subscribe(() => this.#drawSoon()) ?? this.#unsubscribe;
    this.#draw();
    this.#root.querySelector('button')?.focus();
  }

  close(): void {
    this.#observer.disconnect();
    this.#unsubscribe();
    this.#log.stop();
    this.host.remove();
  }

  #drawSoon(): void {
    if (this.#isDrawing) return;
    this.#isDrawing = true;
    setTimeout(() => {
      this.#isDrawing = false;
      if (this.host.isConnected) this.#draw();
    }, 50);
  }

  #draw(): void {
    const entries = performance.getEntriesByType('resource');
    const isGateLoaded =
      entries.length >= MOST_ENTRIES || entries.some(({ name }) => name === `${this.#service}/sdk/gate.js`);
    const facts = factsOf(this.#consent, isGateLoaded);
    const elements = [...document.querySelectorAll<HTMLElement>(GATED)];
    replace(
      this.#elements,
      elements.length === 0
        ? [make('li', {}, 'No element of the page waits for consent.')]
        : elements.map((element) => findingItem(element, facts)),
    );
    const values = this.#consent && valuesOf(this.#consent, scriptOf()?.dataset.apiKey, Date.now());
    replace(
      this.#values,
      (values ?? [['Status', WITHOUT_SDK] as const]).flatMap(([name, value]) => [
        make('dt', {}, name),
        make('dd', {}, value),
      ]),
    );
    replace(
      this.#requests,
      this.#log.entries.map(({ request, answer, isFailure }) =>
        make('li', isFailure ? { class: 'wrong' } : {}, make('code', {}, request), make('br'), `→ ${answer}`),
      ),
    );
  }

  #form(): HTMLElement {
    const { languages = [] } = this.#consent?.state.configuration ?? {};
    const region = select([
      ['', 'as the service states it'],
      ...REGIONS.map(({ name, law }, i) => [String(i), `${name} (${law ?? 'no law is known'})`] as const),
    ]);
    const language = select([['', 'that of the page'], ...languages.map((one) => [one, one] as const)]);
    const signal = make('input', { type: 'checkbox' });
    const start = make('button', { type: 'submit' }, 'Open the banner, recording nothing');
    const form = make(
      'form',
      {},
      make('label', {}, 'Country', region),
      make('label', {}, 'Language', language),
      make('label', { class: 'line' }, signal, 'Global Privacy Control is on'),
      make(
        'p',
        { class: 'promise' },
        'Nothing is recorded. This banner runs in a frame of its own, sends no consent, and keeps nothing in the browser.',
      ),
      start,
    );
    form.addEventListener('submit', (event) => {
      event.preventDefault();
      this.#said.replaceChildren();
      const say = (words: string): void => this.#said.append(make('li', {}, words));
      const script = scriptOf();
      if (script === null) {
        say('The page has no script element with data-api-key, so the panel cannot start it again.');
        return;
      }
      say('Trial: nothing is recorded.');
      startTrial(
        this.#trial,
        {
          region: REGIONS[Number(region.value || 'none')] ?? null,
          language: language.value,
          isSignalled: signal.checked,
        },
        { script, fetch: this.#log.fetch, onSaid: say },
      );
      this.#said.scrollIntoView();
    });
    return form;
  }
}

/** The script element of the SDK. */
function scriptOf(): HTMLScriptElement | null {
  return document.querySelector<HTMLScriptElement>('script[data-api-key]');
}

function findingItem(element: HTMLElement, facts: Facts | null): HTMLElement {
  const { kind, what, why } = findingOf(gatedOf(element), facts);
  return make(
    'li',
    { class: kind },
    make('strong', {}, MARKS[kind]),
    ' ',
    make('code', {}, nameOf(element)),
    make('br'),
    `${what}: ${why}`,
  );
}

function note(text: string): HTMLElement {
  return make('p', { class: 'note' }, text);
}

function select(options: readonly (readonly [value: string, text: string])[]): HTMLSelectElement {
  return make('select', {}, ...options.map(([value, text]) => make('option', { value }, text)));
}

/** Replaces the content of a list, unless it is the same: a screen reader would begin it again. */
function replace(list: HTMLElement, items: readonly HTMLElement[]): void {
  const next = document.createElement(list.localName);
  next.append(...items);
  if (!next.isEqualNode(list.cloneNode(true)) || list.childElementCount === 0) list.replaceChildren(...items);
}

function make<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) node.setAttribute(name, value);
  node.append(...children);
  return node;
}
