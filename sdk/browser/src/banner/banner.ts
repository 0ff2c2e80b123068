import { button, labelOf, statement } from '../../../banner/controls.js';
import { styleRoot, toDom } from '../../../banner/dom.js';
import { draw } from '../../../banner/drawn.js';
import { firstLayer } from '../../../banner/first-layer.js';
import { settingsLayer } from '../../../banner/settings-layer.js';
import { bannerStyle } from '../../../banner/style.js';
import type { BannerView } from '../../../banner/view.js';
import type { Answers } from '../../../core/choice.js';
import type { ConsentSource } from '../../../core/consent.js';
import type { Presentation } from '../../../core/consent-body.js';
import type { ConsentState } from '../../../core/consent-state.js';
import { schemeOf, viewOf } from './banner-view.js';
import { PageRoom } from './page-room.js';
import { noticeOf, presentationOf, type ShownLayer } from './presentation.js';

/** The part of `policy.ts` that a page loads from the service. */
type PolicyFile = Pick<typeof import('../policy.js'), 'fillPolicy'>;

/** How long the confirmation of a choice is shown, in milliseconds. */
const SAID_MS = 5_000;

export interface BannerOptions {
  /** Nonce of the page's content security policy, for browsers without constructed style sheets. */
  readonly nonce?: string | undefined;
  /**
   * Whether a button at the edge of the page opens the settings. If absent: only if the page has no
   * element with `data-consent-settings`, which then opens them.
   */
  readonly settingsButton?: boolean | undefined;
}

/** A banner that was put on a page. */
export interface Banner {
  /** Opens the settings, in which the visitor changes or withdraws the choice. */
  openSettings(): Promise<void>;
  /** Removes the banner from the page. */
  remove(): void;
}

/**
 * Shows the banner while a choice is needed, and opens the settings from every element with
 * `data-consent-settings`. It lives in an open shadow root, so that styles of the page and of the
 * banner do not change each other.
 * @param consent the consent, which the caller starts
 */
export function showBanner(consent: ConsentSource, options: BannerOptions = {}): Banner {
  return new ShownBanner(consent, options);
}

class ShownBanner implements Banner {
  readonly #consent: ConsentSource;
  readonly #nonce: string | undefined;
  readonly #host = document.createElement('consent-banner');
  readonly #root = this.#host.attachShadow({ mode: 'open' });
  readonly #said = toDom(draw('p', { role: 'status', class: 'said' }));
  readonly #room = new PageRoom();
  readonly #ended = new AbortController();
  // This runs in a separate task, so that a page that keeps removing the banner does not hang.
  readonly #removed = new MutationObserver(() => setTimeout(() => this.#onPageChange()));
  readonly #resized: ResizeObserver;
  readonly #settingsButton: boolean;
  #style = '';
  /** The element of the banner that had the focus last, as long as no element of the page has it. */
  #focused: HTMLElement | null = null;
  /** The question. */
  #first: HTMLElement | null = null;
  #settings: HTMLElement | null = null;
  /** The parts at the edge of the page: the button that opens the settings, and what is said of a signal and an account. */
  #corner: HTMLElement | null = null;
  /** The layers that are shown, the front one last. */
  #asked: ShownLayer | null = null;
  #refined: ShownLayer | null = null;
  #shown: unknown;
  #hiding: ReturnType<typeof setTimeout> | undefined;

  constructor(consent: ConsentSource, { nonce, settingsButton }: BannerOptions) {
    this.#consent = consent;
    this.#nonce = nonce;
    this.#settingsButton = settingsButton ?? document.querySelector('[data-consent-settings]') === null;
    consent.showsNotice(noticeOf);
    this.#host.popover = 'manual';
    this.#root.append(this.#said);
    this.#resized = new ResizeObserver(() => this.#keepRoom());
    this.#mount();
    const { signal } = this.#ended;
    // Focus changes within a shadow root are not reported outside of it.
    for (const node of [document, this.#root])
      node.addEventListener('focusin', () => (this.#focused = this.#root.querySelector(':focus')), { signal });
    document.addEventListener('click', (event) => this.#onPageClick(event), { signal });
    document.addEventListener('keydown', (event) => this.#onPageKey(event), { signal });
    this.#root.addEventListener('click', ({ target }) => this.#onClick(target));
    this.#root.addEventListener('change', ({ target }) => this.#onChange(target));
    signal.addEventListener(
      'abort',
      consent.subscribe((state) => this.#render(state)),
    );
  }

  async openSettings(): Promise<void> {
    const { configuration, status } = this.#consent.state;
    if (configuration === null || status === 'unavailable') return;
    // The texts may be in the language of the choice. Offline, the settings open in it.
    if (status === 'chosen') await this.#consent.setLanguage().catch(() => undefined);
    this.#openSettings();
  }

  remove(): void {
    this.#ended.abort();
    this.#removed.disconnect();
    this.#resized.disconnect();
    this.#room.keep(0);
    this.#host.remove();
  }

  /**
   * Puts the banner on the page, and again after a page moved it, or replaced its body or the body's content. The
   * banner goes to the end of the body, because frameworks that take over a whole document tolerate strange nodes there
   * alone (React 18).
   */
  #mount(): void {
    const host = this.#host;
    const focused = this.#focused;
    const { documentElement, body } = document;
    // In the top layer, no style of the page hides it or moves it. Browsers before 2024 do not have it.
    const hasTopLayer = 'showPopover' in host;
    // The banner is in the root only while the page has no body, and then moves into the body.
    const home = body ?? documentElement;
    const isInPlace = host.parentNode === home && (!hasTopLayer || host.matches(':popover-open'));
    if (isInPlace || this.#ended.signal.aborted) return;
    for (const node of [document, documentElement, home])
      this.#removed.observe(node, { childList: true, attributeFilter: ['data-consent-scheme'] });
    if (host.parentNode !== home) home.append(host);
    if (hasTopLayer) host.showPopover();
    for (const dialog of [this.#first, this.#settings]) {
      if (!isDialog(dialog) || !dialog.open) continue;
      dialog.close();
      dialog.showModal();
    }
    // A page that moved the banner took the focus from it. The focus of the page itself is not changed.
    const { activeElement } = document;
    if (activeElement === home || activeElement === host) focused?.focus();
  }

  /** The page removed the banner, or its own switch changed the colours. */
  #onPageChange(): void {
    const { configuration } = this.#consent.state;
    this.#mount();
    if (configuration !== null) this.#restyle(viewOf(configuration));
  }

  #onPageClick(event: Event): void {
    // The path goes through shadow roots.
    const isOpener = (node: EventTarget): boolean => node instanceof Element && node.matches('[data-consent-settings]');
    if (!event.composedPath().some(isOpener)) return;
    event.preventDefault();
    this.openSettings();
  }

  /** The first press of Tab reaches the question, although it is at the end of the body. */
  #onPageKey(event: KeyboardEvent): void {
    const isFirst = event.key === 'Tab' && !event.shiftKey && document.activeElement === document.body;
    if (!isFirst || this.#first === null || isDialog(this.#first)) return;
    event.preventDefault();
    this.#first.querySelector<HTMLElement>('[tabindex="0"],.choice')?.focus();
  }

  /** Performs the action of the pressed control, which its `part` names. */
  #onClick(target: EventTarget | null): void {
    const pressed = target instanceof Element ? target.closest('button') : null;
    if (pressed === null) return;
    const part = pressed.getAttribute('part');
    const isInSettings = this.#settings?.contains(pressed);
    const [shown, node] = isInSettings ? [this.#refined, this.#settings] : [this.#asked, this.#first];
    if (this.#corner?.contains(pressed)) this.openSettings();
    else if (part === 'settings') this.#openSettings();
    else if (part === 'policy') this.#openSettings(true);
    else if (part === 'close' && isInSettings) this.#close();
    else if (shown && node && part && this.#record(part, presentationOf(shown, part, node))) this.#confirm();
  }

  /** @returns whether the control decides anything */
  #record(part: string, presentation: Presentation): boolean {
    // What is exempt goes on, and nothing is recorded.
    if (part === 'accept' || part === 'close') this.#consent.acceptAll(presentation);
    else if (part === 'reject' || part === 'object') this.#consent.rejectAll(presentation);
    else if (part === 'save') {
      const optOut = this.#settings?.querySelector<HTMLInputElement>('.opt-out');
      if (optOut?.checked === false) this.#consent.optOutOfSale(false, presentation);
      const { categories, services } = this.#ticked();
      this.#consent.choose(categories, presentation, services);
    } else return false;
    return true;
  }

  #onChange(target: EventTarget | null): void {
    if (target instanceof HTMLInputElement) joinSwitches(target.closest('.category'), target);
    if (!(target instanceof HTMLSelectElement)) return;
    const isInSettings = this.#settings?.contains(target) === true;
    this.#consent.setLanguage(target.value).then(() => {
      if (!isInSettings) return;
      this.#openSettings(false, this.#ticked());
      this.#settings?.querySelector('select')?.focus();
    }, console.error);
  }

  #render({ status, configuration }: ConsentState): void {
    if (configuration === null) return;
    const { notice, account } = this.#consent;
    const shown = JSON.stringify([status, configuration.language, configuration.appearance, notice, account]);
    if (shown === this.#shown) return;
    this.#shown = shown;
    const view = viewOf(configuration, account?.line);
    this.#restyle(view);
    const isTold = configuration.categories.some(({ key, rule }) => rule === 'exempt' && this.#consent.allows(key));
    const isAsked = status === 'needed' || (status === 'unasked' && isTold);
    this.#renderFirst(isAsked ? view : null);
    this.#renderCorner((!isAsked && status !== 'unavailable') || this.#isLeft() ? view : null);
  }

  #restyle({ appearance }: BannerView): void {
    const style = bannerStyle(appearance, schemeOf(appearance));
    if (style !== this.#style) styleRoot(this.#root, style, this.#nonce);
    this.#style = style;
  }

  #renderFirst(view: BannerView | null): void {
    const hadFocus = this.#first?.contains(this.#root.activeElement) ?? false;
    const isLeft = this.#isLeft();
    this.#first?.remove();
    this.#resized.disconnect();
    this.#first = view && toDom(firstLayer(view));
    // The language can be changed while the banner is shown; the time counts from the first language.
    this.#asked = view && this.#layer('first', view, this.#asked?.since);
    if (view && this.#first) {
      this.#root.append(this.#first);
      if (isDialog(this.#first)) {
        this.#first.addEventListener('close', () => this.#isLeft() && this.#renderCorner(view));
        // It also stays closed in another language.
        if (!isLeft) {
          this.#mount();
          this.#first.showModal();
          this.#first.querySelector<HTMLElement>('.words')?.focus();
        }
      } else {
        // The notice takes no focus, so that the page can be read. A screen reader announces it.
        this.#say(this.#first.querySelector('h2')?.textContent ?? '', view.language, false);
      }
      this.#resized.observe(this.#first);
      // The element that had the focus was replaced, for example the choice of the language.
      if (hadFocus) (this.#first.querySelector('select') ?? this.#first.querySelector('button'))?.focus();
    }
    this.#keepRoom();
  }

  /** Whether the visitor left the choice for the next page by Escape: nothing optional is permitted until then. */
  #isLeft(): boolean {
    return isDialog(this.#first) && !this.#first.open;
  }

  #renderCorner(view: BannerView | null): void {
    this.#corner?.remove();
    this.#corner = null;
    if (view === null) return;
    const { notice, account } = this.#consent;
    this.#corner = toDom(
      draw(
        'div',
        { class: `corner ${view.appearance.side}`, dir: view.direction },
        this.#settingsButton ? button(view, 'settings', 'open') : [],
        statement('notice', notice, 'status'),
        statement('account', account?.told, 'status'),
      ),
    );
    this.#root.append(this.#corner);
  }

  get #opener(): HTMLElement | null {
    return this.#corner?.querySelector('button') ?? null;
  }

  /**
   * @param isPolicyOpen whether the text of the policy is unfolded
   * @param ticked what is ticked: by default, what an earlier choice or the rule of the place permits, and nothing else
   */
  #openSettings(isPolicyOpen = false, ticked?: Answers): void {
    const { configuration, choice } = this.#consent.state;
    // The texts may arrive after the page has removed the banner.
    if (configuration === null || this.#ended.signal.aborted) return;
    // The layer is closed, so that the next one knows what had the focus before the settings.
    this.#close();
    this.#settings?.remove();
    const view = viewOf(configuration, this.#consent.account?.line);
    const dialog = toDom(
      settingsLayer(view, {
        ticked: ticked ?? { categories: this.#consent.permitted(), services: choice?.services },
        notice: this.#consent.notice,
        proofPage: this.#consent.proofPage,
      }),
    );
    for (const category of dialog.querySelectorAll('.category')) joinSwitches(category);
    this.#settings = dialog;
    this.#refined = this.#layer('settings', view);
    this.#root.append(dialog);
    this.#mount();
    if (isDialog(dialog)) {
      dialog.showModal();
      dialog.addEventListener('close', () => this.#keepFocus(dialog));
    }
    this.#consent.showsSettings(true);
    const policy = dialog.querySelector<HTMLDetailsElement>('.policy');
    policy?.addEventListener('toggle', () => this.#fill(policy), { once: true });
    if (!isPolicyOpen || policy === null) return;
    policy.open = true;
    policy.querySelector('summary')?.focus();
  }

  /** The text of the policy comes from the service, as the file does that reads it. */
  #fill(policy: HTMLElement): void {
    const place = policy.querySelector('.text');
    if (place === null) return;
    this.#consent
      .file<PolicyFile>('policy')
      .then(({ fillPolicy }) => fillPolicy(this.#consent, place))
      .catch(({ message }: Error) => {
        place.textContent = message;
      });
  }

  /** Gives the focus to what opens the settings, if the element that had it was replaced meanwhile. */
  #keepFocus(closed: HTMLElement): void {
    if (closed === this.#settings) this.#consent.showsSettings(false);
    const focused = this.#root.activeElement ?? document.activeElement;
    const isLost = focused === null || focused === document.body || closed.contains(focused);
    if (closed !== this.#settings || !isLost) return;
    (this.#opener ?? this.#first?.querySelector<HTMLElement>('[part=settings]'))?.focus();
  }

  #layer(layer: ShownLayer['layer'], view: BannerView, since = performance.now()): ShownLayer {
    const { state, isGpcOn, notice } = this.#consent;
    return {
      layer,
      view,
      isThemed: state.configuration?.appearance === view.appearance,
      preselected: layer === 'settings' && state.choice !== null ? 'earlier' : isGpcOn ? 'gpc' : 'nothing',
      notice: layer === 'settings' ? notice : undefined,
      since,
    };
  }

  #ticked(): Answers {
    const by = (attribute: 'name' | 'value'): Record<string, boolean> => {
      const boxes = this.#settings?.querySelectorAll<HTMLInputElement>(`input[${attribute}]`) ?? [];
      return Object.fromEntries([...boxes].map((box) => [box[attribute], box.checked]));
    };
    return { categories: by('name'), services: by('value') };
  }

  #close(): void {
    if (isDialog(this.#settings)) this.#settings.close();
  }

  /** Says that the choice counts, which it does at once. */
  #confirm(): void {
    this.#close();
    const { configuration } = this.#consent.state;
    if (configuration !== null) {
      const { text, language } = labelOf(configuration, 'saved');
      this.#say(text, language, true);
    }
    this.#opener?.focus();
  }

  #say(text: string, language: string, isSeen: boolean): void {
    this.#said.lang = language;
    this.#said.textContent = text;
    this.#said.classList.toggle('seen', isSeen);
    // The time of an earlier confirmation must not end this one.
    clearTimeout(this.#hiding);
    if (isSeen) this.#hiding = setTimeout(() => this.#said.classList.remove('seen'), SAID_MS);
  }

  /** The page has room for a question at its edge. The keyboard can scroll to text that does not fit. */
  #keepRoom(): void {
    const first = this.#first;
    this.#room.keep(first === null || isDialog(first) ? 0 : Math.ceil(first.getBoundingClientRect().height));
    const words = first?.querySelector<HTMLElement>('.words');
    if (words) words.tabIndex = words.scrollHeight > words.clientHeight ? 0 : -1;
  }
}

/**
 * The switch of a category turns those of its services on or off. It is on if all of them are, and undecided if some are.
 * @param pressed the switch that the visitor pressed
 */
function joinSwitches(category: Element | null, pressed?: HTMLInputElement): void {
  const [whole, ...services] = category?.querySelectorAll('input') ?? [];
  if (whole === undefined || services.length === 0) return;
  if (pressed === whole) for (const one of services) one.checked = whole.checked;
  const on = services.filter(({ checked }) => checked).length;
  whole.checked = on === services.length;
  whole.indeterminate = on > 0 && !whole.checked;
}

/** A dialog that the browser opens above the page, with everything else out of reach. */
function isDialog(node: HTMLElement | null): node is HTMLDialogElement {
  return node instanceof HTMLDialogElement;
}
