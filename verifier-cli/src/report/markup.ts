import { escapeHtml } from '../../../schemas/text/escape-html.js';

/**
 * A piece of a page: a text, or an element. Nothing in it is ever taken for HTML: texts and
 * attribute values are escaped, or set as such.
 */
export type Markup = string | Element;

export interface Element {
  readonly tag: Tag;
  readonly attributes: Attributes;
  readonly children: readonly Markup[];
}

/** What a report needs, and nothing that runs, loads or leads anywhere. */
type Tag =
  | 'article'
  | 'header'
  | 'section'
  | 'h1'
  | 'h2'
  | 'h3'
  | 'p'
  | 'strong'
  | 'span'
  | 'code'
  | 'bdi'
  | 'pre'
  | 'ul'
  | 'li'
  | 'dl'
  | 'dt'
  | 'dd'
  | 'table'
  | 'caption'
  | 'thead'
  | 'tbody'
  | 'tr'
  | 'th'
  | 'td'
  | 'details'
  | 'summary';

/** Attributes that can neither run nor load anything. */
interface Attributes {
  readonly class?: string;
  readonly lang?: string;
  readonly dir?: 'auto' | 'ltr';
  readonly scope?: 'col' | 'row';
  readonly 'aria-hidden'?: 'true';
  readonly open?: '';
}

/** Builds an element. */
export function element(tag: Tag, attributes: Attributes, ...children: readonly Markup[]): Element {
  return { tag, attributes, children };
}

/** The HTML of a piece of a page. */
export function renderHtml(markup: Markup): string {
  if (typeof markup === 'string') return escapeHtml(markup);
  const attributes = Object.entries(markup.attributes).map(
    ([name, value]) => ` ${name}="${escapeHtml(String(value))}"`,
  );
  const { tag } = markup;
  return `<${tag}${attributes.join('')}>${markup.children.map(renderHtml).join('')}</${tag}>`;
}
