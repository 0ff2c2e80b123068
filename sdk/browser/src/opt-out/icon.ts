const SVG = 'http://www.w3.org/2000/svg';
const BLUE = '#06f';

/**
 * The opt-out icon (CCPA regulations, §7015(b)): a pill whose one half is white with a blue check mark, and whose other
 * half is blue with a white cross. It has an outline, so that it is seen on every background.
 */
const SHAPES: readonly Readonly<Record<string, string>>[] = [
  { d: 'M7 .5h16a6.5 6.5 0 0 1 0 13H7A6.5 6.5 0 0 1 7 .5z', fill: '#fff', stroke: BLUE },
  { d: 'M17.6 1H23a6 6 0 0 1 0 12h-8.8z', fill: BLUE },
  { d: 'M5.2 7.2l2.6 2.6 4.6-5.6', fill: 'none', stroke: BLUE, 'stroke-width': '1.7' },
  { d: 'M19.7 4.3l5.4 5.4m0-5.4l-5.4 5.4', fill: 'none', stroke: '#fff', 'stroke-width': '1.7' },
];

/** Creates the icon, as high as the text around it. Its meaning is in the words of the link. */
export function optOutIcon(): SVGElement {
  const icon = node('svg', { viewBox: '0 0 30 14', width: '2.14em', height: '1em', 'aria-hidden': 'true' });
  icon.style.verticalAlign = '-.12em';
  icon.append(
    ...SHAPES.map((shape) => node('path', { ...shape, 'stroke-linecap': 'round', 'stroke-linejoin': 'round' })),
  );
  return icon;
}

function node(name: 'svg' | 'path', attributes: Readonly<Record<string, string>>): SVGElement {
  const made = document.createElementNS(SVG, name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
