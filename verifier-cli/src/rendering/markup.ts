import { escapeHtml } from '../../../schemas/text/escape-html.js';
import type { Drawing as BannerDrawing } from '../../../sdk/banner/drawing.js';
import type { Drawn } from '../../../sdk/banner/drawn.js';
import type { PictureType } from './picture-type.js';

/**
 * A part of a page: a text, an element, a picture, or a drawing. Nothing in it is ever interpreted as HTML: texts and
 * attribute values are escaped or set as text.
 */
export type Markup = string | Element | Picture | Drawing;

/** A picture that is in the page itself. Its type is one that cannot hold a script. */
export interface Picture {
  readonly picture: PictureType;
  readonly base64: string;
  /** Alternative text, for readers who do not see the picture. */
  readonly alt: string;
}

/** A banner as it was shown, with its own style, which does not affect the rest of the page. */
interface Drawing {
  readonly drawing: BannerDrawing;
}

export interface Element {
  readonly tag: Tag;
  readonly attributes: Attributes;
  readonly children: readonly Markup[];
}

/** Elements of a report. None of them runs a script, loads a resource or sends a value. */
type Tag =
  | 'article'
  | 'header'
  | 'nav'
  | 'a'
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
  | 'ol'
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
  | 'summary'
  | 'label'
  | 'input';

/** Attributes that can neither run nor load anything. */
interface Attributes {
  readonly class?: string;
  readonly lang?: string;
  readonly dir?: 'auto' | 'ltr';
  readonly scope?: 'col' | 'row';
  readonly 'aria-hidden'?: 'true';
  readonly open?: '';
  readonly id?: string;
  /** A place of the same page. Only the look-up of one record, which is no report, links to another page. */
  readonly href?: `#${string}` | `https://${string}`;
  readonly rel?: 'noreferrer';
  readonly type?: 'checkbox';
}

/** Builds an element. */
export function element(tag: Tag, attributes: Attributes, ...children: readonly Markup[]): Element {
  return { tag, attributes, children };
}

/** The HTML of a piece of a page. */
export function renderHtml(markup: Markup): string {
  if (typeof markup === 'string') return escapeHtml(markup);
  if ('picture' in markup) return `<img class="picture" alt="${escapeHtml(markup.alt)}" src="${pictureUrl(markup)}">`;
  // A declarative shadow root, which needs no script.
  if ('drawing' in markup)
    return `<div class="drawing"><template shadowrootmode="open"><style>${markup.drawing.style}</style>${drawnHtml(markup.drawing.content)}</template></div>`;
  return elementHtml(markup.tag, markup.attributes, markup.children.map(renderHtml));
}

function drawnHtml(drawn: Drawn): string {
  if (typeof drawn === 'string') return escapeHtml(drawn);
  return elementHtml(drawn.tag, drawn.attributes, drawn.children.map(drawnHtml));
}

function elementHtml(tag: string, attributes: object, children: readonly string[]): string {
  const stated = Object.entries(attributes).map(
    ([name, value]) => ` ${name}="${value === true ? '' : escapeHtml(String(value))}"`,
  );
  return tag === 'input' ? `<${tag}${stated.join('')}>` : `<${tag}${stated.join('')}>${children.join('')}</${tag}>`;
}

/** The styles of the drawings in a piece of a page. */
export function drawingStyles(markup: Markup): readonly string[] {
  if (typeof markup === 'string' || 'picture' in markup) return [];
  return 'drawing' in markup ? [markup.drawing.style] : markup.children.flatMap(drawingStyles);
}

/** Returns the data URL of a picture. */
export function pictureUrl({ picture, base64 }: Picture): string {
  return `data:${picture};base64,${base64}`;
}

/** Whether a piece of a page has a picture in it. */
export function hasPicture(markup: Markup): boolean {
  if (typeof markup === 'string' || 'drawing' in markup) return false;
  return 'picture' in markup || markup.children.some(hasPicture);
}
