import { isConstructed } from '../../../banner/dom.js';

/**
 * Keeps room in the page for a banner of this height, so that it covers neither the end of the page nor the element
 * that has the focus (WCAG 2.2, 2.4.11).
 */
export class PageRoom {
  readonly #sheet = isConstructed() ? new CSSStyleSheet() : null;

  /** @param pixels height of the banner, or 0 if there is none */
  keep(pixels: number): void {
    if (this.#sheet === null) return;
    // A page may replace the list. Browsers before 2022 change it only as a whole.
    if (!document.adoptedStyleSheets.includes(this.#sheet))
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.#sheet];
    this.#sheet.replaceSync(
      pixels === 0 ? '' : `@media screen{html{padding-bottom:${pixels}px;scroll-padding-bottom:${pixels}px}}`,
    );
  }
}
