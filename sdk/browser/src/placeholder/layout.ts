/** How a placeholder takes the place of an element: members of its inline style. */
export type Layout = Readonly<Record<string, string>>;

/** Properties of the element's own layout that place it among its neighbours, regardless of its size. */
const PLACING = ['float', 'grid-area', 'flex', 'order', 'align-self', 'justify-self', 'vertical-align'] as const;
const MARGINS = ['margin-top', 'margin-right', 'margin-bottom', 'margin-left'] as const;

/**
 * Measures an element before it is hidden, so that the placeholder has the same size and the page does not move when
 * the content loads. Texts that need more room make the placeholder higher.
 */
export function layoutOf(element: HTMLElement): Layout {
  const style = getComputedStyle(element);
  const value = (name: string): string => style.getPropertyValue(name);
  const placed = Object.fromEntries([...PLACING, ...MARGINS].map((name) => [name, value(name)]));
  // A wrapper that keeps a ratio by its padding has its content placed over it.
  if (value('position') === 'absolute' && (element.offsetWidth > 0 || value('width').endsWith('%')))
    return { position: 'absolute', inset: value('inset'), overflow: 'auto', display: 'grid' };
  const isInline = value('display').startsWith('inline');
  if (!isInline && value('margin-left') === value('margin-right') && !value('margin-left').startsWith('0'))
    Object.assign(placed, { 'margin-left': 'auto', 'margin-right': 'auto' });
  return { ...placed, display: isInline ? 'inline-grid' : 'grid', ...sizeOf(element, value('aspect-ratio')) };
}

function sizeOf(element: HTMLElement, ratio: string): Layout {
  // A picture without an address has the size of its alternative text.
  const isPicture = element instanceof HTMLImageElement;
  const { width, height } = isPicture ? { width: 0, height: 0 } : element.getBoundingClientRect();
  const stated = [Number(element.getAttribute('width')), Number(element.getAttribute('height'))] as const;
  const [statedWidth, statedHeight] = stated;
  // `auto 16 / 9` is a ratio as well.
  const own = ratio.includes('/') ? ratio.replace('auto', '').trim() : undefined;
  const isFluid = width === 0 ? !(statedWidth > 0) : width >= roomOf(element) - 1;
  const wide = { width: isFluid ? '100%' : `${width || statedWidth}px` };
  if (own !== undefined) return { ...wide, 'aspect-ratio': own };
  if (statedWidth > 0 && statedHeight > 0 && (width === 0 || height === 0))
    return { ...wide, 'aspect-ratio': `${statedWidth} / ${statedHeight}` };
  return height > 0 ? { ...wide, 'min-height': `${height}px` } : { ...wide, 'aspect-ratio': '16 / 9' };
}

/** Width of the content area of an element's parent. */
function roomOf({ parentElement }: HTMLElement): number {
  if (parentElement === null) return 0;
  const { paddingLeft, paddingRight } = getComputedStyle(parentElement);
  return parentElement.clientWidth - Number.parseFloat(paddingLeft) - Number.parseFloat(paddingRight);
}
