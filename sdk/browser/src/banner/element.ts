/** Attributes of an element, and its listeners by event. */
export type Attributes = Readonly<Record<string, string | boolean | EventListener>>;

/**
 * Creates an element. Functions become listeners, and `true` an attribute without a value. No text
 * is read as HTML.
 */
export function element<K extends keyof HTMLElementTagNameMap>(
  name: K,
  attributes: Attributes = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[K] {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === 'function') made.addEventListener(key, value);
    else if (value !== false) made.setAttribute(key, value === true ? '' : value);
  }
  made.append(...children);
  return made;
}
