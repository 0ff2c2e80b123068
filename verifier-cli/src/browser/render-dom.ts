import { styleRoot, toDom } from '../../../sdk/banner/dom.js';
import type { Drawing } from '../../../sdk/banner/drawing.js';
import { type Markup, type Picture, pictureUrl } from '../rendering/markup.js';

/** Creates the nodes of a part of a page. Texts are set as text; nothing is parsed. */
export function renderDom(markup: Markup): Node {
  if (typeof markup === 'string') return document.createTextNode(markup);
  if ('picture' in markup) return renderPicture(markup);
  if ('drawing' in markup) return renderDrawing(markup.drawing);
  const node = document.createElement(markup.tag);
  for (const [name, value] of Object.entries(markup.attributes)) node.setAttribute(name, String(value));
  node.append(...markup.children.map(renderDom));
  return node;
}

function renderPicture(picture: Picture): Node {
  const node = document.createElement('img');
  node.className = 'picture';
  node.alt = picture.alt;
  node.src = pictureUrl(picture);
  return node;
}

function renderDrawing({ content, style }: Drawing): Node {
  const node = document.createElement('div');
  node.className = 'drawing';
  const root = node.attachShadow({ mode: 'open' });
  styleRoot(root, style);
  root.append(toDom(content));
  return node;
}
