const isConstructed = (): boolean => 'adoptedStyleSheets' in document;

/**
 * Styles a shadow root. A constructed style sheet needs no permission of a content security policy;
 * browsers without it (before 2023) get a style element with the nonce.
 * @param nonce of the page's policy; undefined without one
 */
export function styleRoot(root: ShadowRoot, css: string, nonce: string | undefined): void {
  if (isConstructed()) {
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
  readonly #sheet = isConstructed() ? new CSSStyleSheet() : null;

  /** @param pixels height of the banner; 0 for none */
  keep(pixels: number): void {
    if (this.#sheet === null) return;
    // A page may replace the list.
    if (!document.adoptedStyleSheets.includes(this.#sheet)) document.adoptedStyleSheets.push(this.#sheet);
    this.#sheet.replaceSync(
      pixels === 0 ? '' : `@media screen{html{scroll-padding-bottom:${pixels}px;padding-bottom:${pixels}px}}`,
    );
  }
}
