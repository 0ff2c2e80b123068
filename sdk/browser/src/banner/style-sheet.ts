/**
 * Styles a shadow root. A constructed style sheet needs no permission of a content security policy;
 * browsers without it (before 2023) get a style element with the nonce.
 * @param nonce of the page's policy; undefined without one
 */
export function styleRoot(root: ShadowRoot, css: string, nonce: string | undefined): void {
  if ('adoptedStyleSheets' in root && 'replaceSync' in CSSStyleSheet.prototype) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet];
    return;
  }
  const style = document.createElement('style');
  if (nonce !== undefined) style.nonce = nonce;
  style.textContent = css;
  root.append(style);
}

/**
 * Keeps room below the page for a banner of this height, so that it covers neither the end of the
 * page nor the element that has the focus (WCAG 2.2, 2.4.11).
 */
export class PageRoom {
  readonly #sheet = 'adoptedStyleSheets' in document ? new CSSStyleSheet() : null;

  /** @param pixels height of the banner; 0 for none */
  keep(pixels: number): void {
    if (this.#sheet === null) return;
    if (!document.adoptedStyleSheets.includes(this.#sheet)) {
      document.adoptedStyleSheets = [...document.adoptedStyleSheets, this.#sheet];
    }
    this.#sheet.replaceSync(
      pixels === 0 ? '' : `@media screen{html{scroll-padding-block-end:${pixels}px;padding-block-end:${pixels}px}}`,
    );
  }
}
