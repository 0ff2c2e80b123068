import { layoutOf } from './placeholder/layout.js';
import { type PublicConsent, untilSomethingElseIsSaid } from './placeholder/once.js';
import { askedFor, Slot, type SlotOptions } from './placeholder/slot.js';

const WAITING = '[data-consent-placeholder][data-consent-src]:not(link)';
const NAME = 'consent-placeholder';

/** The gate of a page, as the placeholders use it. */
export interface OpenGate {
  /** The elements that are loaded although their category is not permitted. */
  readonly once: WeakSet<HTMLElement>;
  /** Loads and unloads the elements of the page again. */
  readonly release: () => void;
}

/**
 * Shows a placeholder in place of each element with `data-consent-placeholder` that waits for consent. It says what the
 * element is and who gets data, and has two buttons: one loads only this element until the visitor's next choice, and
 * the other permits its categories.
 * @returns a function that stops this
 */
export function showPlaceholders(
  consent: PublicConsent,
  options: SlotOptions,
  { once, release }: OpenGate,
): () => void {
  const shown = new Map<HTMLElement, { readonly slot: Slot; readonly end: () => void }>();
  const show = (element: HTMLElement): { readonly slot: Slot; readonly end: () => void } => {
    const host = document.createElement(NAME);
    const focus = (): void => focusOn(element);
    const slot = new Slot(consent, host, element, options, {
      loadOnce: () => {
        once.add(element);
        untilSomethingElseIsSaid(consent, () => {
          once.delete(element);
          release();
          update();
        });
        release();
        update();
        focus();
      },
      onAllowed: () => {
        update();
        focus();
      },
    });
    for (const [name, value] of Object.entries(layoutOf(element))) host.style.setProperty(name, value);
    const { display } = element.style;
    element.style.setProperty('display', 'none', 'important');
    element.before(host);
    const end = (): void => {
      host.remove();
      element.style.display = display;
    };
    return { slot, end };
  };
  const update = (): void => {
    const all = [...document.querySelectorAll<HTMLElement>(WAITING)];
    const waiting = new Set(all.filter((element) => askedFor(consent, element) !== null));
    for (const [element, { end }] of shown) {
      if (waiting.has(element)) continue;
      end();
      shown.delete(element);
    }
    for (const element of waiting) {
      const one = shown.get(element) ?? show(element);
      shown.set(element, one);
      one.slot.draw();
    }
  };
  const unsubscribe = consent.subscribe(update);
  const observer = new MutationObserver(update);
  observer.observe(document, {
    childList: true,
    subtree: true,
    attributeFilter: ['data-consent-src', 'data-consent-placeholder', 'data-consent-scheme', 'title', 'alt'],
  });
  return () => {
    unsubscribe();
    observer.disconnect();
    for (const { end } of shown.values()) end();
    shown.clear();
  };
}

/**
 * Draws a placeholder in a host that the page made, for a page that mounts its content itself.
 * @param host the element whose attributes say what waits
 * @param setOnce called with true when the visitor loads the content once, and with false when that ends
 * @returns a function that only ends the drawing
 */
export function drawPlaceholder(
  consent: PublicConsent,
  host: HTMLElement,
  options: SlotOptions,
  setOnce: (isLoaded: boolean) => void,
): () => void {
  const { previousElementSibling: before, parentElement: parent } = host;
  // The page mounts the content in a moment.
  const focusSoon = (): unknown =>
    setTimeout(() => {
      const content = before === null ? parent?.firstElementChild : before.nextElementSibling;
      if (content instanceof HTMLElement && document.activeElement === document.body) focusOn(content);
    });
  const loadOnce = (): void => {
    untilSomethingElseIsSaid(consent, () => setOnce(false));
    setOnce(true);
    focusSoon();
  };
  const slot = new Slot(consent, host, host, options, { loadOnce, onAllowed: focusSoon });
  return consent.subscribe(() => slot.draw());
}

/** Moves the focus from a removed button to the content that replaced it. */
function focusOn(element: HTMLElement): void {
  if (!(element instanceof HTMLIFrameElement) && element.tabIndex < 0) element.tabIndex = -1;
  element.focus();
}
