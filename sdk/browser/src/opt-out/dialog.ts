import { labelOf } from '../../../banner/controls.js';
import { styleRoot, toDom } from '../../../banner/dom.js';
import { controlOf, type OptOutState, optOutLayer, optOutStyle } from '../../../banner/opt-out-layer.js';
import type { Configuration } from '../../../core/answers.js';
import { schemeOf, viewOf } from '../banner/banner-view.js';
import { SDK } from '../banner/presentation.js';
import type { OptOutSource } from './source.js';

/** Milliseconds in a day, the longest time that a record states. */
const DAY_MS = 86_400_000;

/** The dialog of the opt-out. It is on the page while it is open. */
export class OptOutDialog {
  readonly #host = document.createElement('consent-opt-out');
  readonly #root = this.#host.attachShadow({ mode: 'open' });
  #dialog: HTMLElement | null = null;
  #since = 0;

  constructor(
    private readonly consent: OptOutSource,
    private readonly nonce: string | undefined,
  ) {}

  /** @param opener gets the focus back when the dialog closes */
  open(configuration: Configuration, opener: HTMLElement): void {
    const view = viewOf(configuration);
    const dialog = toDom(optOutLayer(view));
    if (!(dialog instanceof HTMLDialogElement)) return;
    this.#root.replaceChildren(dialog);
    styleRoot(this.#root, optOutStyle(view.appearance, schemeOf(view.appearance)), this.nonce);
    this.#dialog = dialog;
    this.#since = performance.now();
    dialog.addEventListener('close', () => {
      this.close();
      opener.focus();
    });
    dialog.addEventListener('click', ({ target }) => {
      if (!(target instanceof HTMLButtonElement)) return;
      if (target.part.contains('close')) dialog.close();
      else this.#decide();
    });
    document.body.append(this.#host);
    this.update();
    dialog.showModal();
    dialog.querySelector('h2')?.focus();
  }

  /** States what has changed since, for example in another tab. */
  update(): void {
    const { configuration } = this.consent.state;
    const [status, button] = this.#dialog?.querySelectorAll<HTMLElement>('[role=status],.choice') ?? [];
    if (configuration === null || status === undefined || button === undefined) return;
    const view = viewOf(configuration);
    const state = stateOf(this.consent);
    for (const [element, name] of [
      [status, state],
      [button, controlOf(state)],
    ] as const) {
      const { text, language } = labelOf(view, name);
      element.lang = language;
      // A status that stays the same is not said again.
      if (element.textContent !== text) element.textContent = text;
    }
    button.setAttribute('part', controlOf(state).replaceAll('_', '-'));
  }

  close(): void {
    this.#host.remove();
    this.#dialog = null;
  }

  #decide(): void {
    const control = controlOf(stateOf(this.consent));
    const sent = this.consent.optOutOfSale(control === 'do_not_sell', {
      layout: 'opt_out',
      layout_version: 1,
      layer: 'opt_out',
      language: this.consent.state.configuration?.language ?? '',
      controls: [control],
      control,
      elapsed_ms: Math.min(DAY_MS, Math.round(performance.now() - this.#since)),
      sdk: SDK,
    });
    // The state of the consent has a refusal of the service. What is not yet sent is sent by a later page.
    sent.catch(() => undefined);
    this.#since = performance.now();
    this.update();
  }
}

function stateOf({ isOptedOutOfSale, isGpcOn }: OptOutSource): OptOutState {
  if (!isOptedOutOfSale) return 'not_opted_out';
  return isGpcOn ? 'opted_out_by_signal' : 'opted_out';
}
