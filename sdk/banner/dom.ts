import type { Drawn, DrawnElement } from './drawn.js';

/** Creates the node of a drawn element. Texts are set as text; nothing is parsed as HTML. */
export function toDom(drawn: DrawnElement): HTMLElement {
  const node = document.createElement(drawn.tag);
  for (const [name, value] of Object.entries(drawn.attributes)) node.setAttribute(name, value === true ? '' : value);
  node.append(...drawn.children.map((child: Drawn) => (typeof child === 'string' ? child : toDom(child))));
  return node;
}

/** Whether the browser constructs style sheets, as all do since 2023. */
export const isConstructed = (): boolean => 'adoptedStyleSheets' in document;

/**
 * Styles a shadow root. A constructed style sheet needs no permission of a content security policy;
 * browsers without it get a style element with the nonce.
 * @param nonce nonce of the page's policy, or undefined if it has none
 */
export function styleRoot(root: ShadowRoot, css: string, nonce?: string): void {
  if (isConstructed()) {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(css);
    root.adoptedStyleSheets = [sheet];
    return;
  }
  const style = document.createElement('style');
  if (nonce !== undefined) style.nonce = nonce;
  style.textContent = css;
  root.querySelector('style')?.remove();
  root.append(style);
}
