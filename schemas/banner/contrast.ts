/**
 * Contrast of two colours (WCAG 2.2, "contrast ratio"), from 1 to 21.
 * @param a a colour in the form `#rrggbb`
 * @param b another colour in the same form
 */
export function contrastOf(a: string, b: string): number {
  const [lighter = 0, darker = 0] = [luminanceOf(a), luminanceOf(b)].sort((one, other) => other - one);
  return (lighter + 0.05) / (darker + 0.05);
}

/** WCAG 2.2, "relative luminance". */
function luminanceOf(colour: string): number {
  const channel = (from: number): number => {
    const value = Number.parseInt(colour.slice(from, from + 2), 16) / 255;
    return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4;
  };
  return 0.2126 * channel(1) + 0.7152 * channel(3) + 0.0722 * channel(5);
}
