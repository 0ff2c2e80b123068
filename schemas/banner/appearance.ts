import * as z from 'zod';

const Colour = z
  .string()
  .regex(/^#[0-9a-f]{6}$/, 'must be a colour like #0b57a4, in lower case')
  .meta({ id: 'Colour' });

/** Colours of the banner in one colour scheme. `on_` stands for the text on a button. */
export const Palette = z
  .strictObject({
    background: Colour,
    text: Colour,
    border: Colour,
    accept: Colour,
    on_accept: Colour,
    reject: Colour,
    on_reject: Colour,
  })
  .meta({ id: 'Palette' });
export type Palette = z.infer<typeof Palette>;

/**
 * Layout and theme of the banner, as part of a site's configuration. A configuration without one has
 * the default of the browser SDK (`sdk/banner/default-appearance.ts`).
 */
export const Appearance = z
  .strictObject({
    layout: z.enum(['bar', 'box', 'dialog']).describe('At the foot, in a corner, or in the middle of the page.'),
    side: z.enum(['start', 'end']).describe('Side of box and settings button.'),
    scheme: z.enum(['auto', 'light', 'dark']).describe('Colours; `auto`: as the browser asks.'),
    light: Palette,
    dark: Palette,
    radius: z.int().min(0).max(24).describe('Radius of corners, in pixels.'),
    font: z.enum(['system', 'serif', 'monospace']).describe('Kind of font.'),
  })
  .meta({ id: 'Appearance' });
export type Appearance = z.infer<typeof Appearance>;
