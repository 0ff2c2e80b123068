import { type Element, element, type Markup } from '../rendering/markup.js';

/** Sections of a page that a list of contents leads to. */
export interface ListedSections {
  /** Printed after the first page. It is not shown on a screen. */
  readonly contents: Element;
  readonly sections: readonly Element[];
}

/**
 * Numbers the sections of a page, and lists them by their titles.
 * @param title title of the list
 * @param sections the sections, each of which begins with its title
 */
export function listSections(title: string, sections: readonly Element[]): ListedSections {
  const named = sections.map((section, index) => {
    const id = `section-${index + 1}`;
    return { id, title: titleOf(section), section: { ...section, attributes: { ...section.attributes, id } } };
  });
  const items = named.map(({ id, title: name }) => element('li', {}, element('a', { href: `#${id}` }, ...name)));
  return {
    contents: element('nav', { class: 'contents' }, element('h2', {}, title), element('ol', {}, ...items)),
    sections: named.map(({ section }) => section),
  };
}

function titleOf({ children: [first] }: Element): readonly Markup[] {
  return typeof first === 'object' && 'children' in first ? first.children : [];
}
