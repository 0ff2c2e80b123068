import { z } from 'zod';

const Name = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,39}$/);

/** Bounds of what is stated of a presentation. */
export const PRESENTATION_LIMITS = { controls: 20, text: 40, elapsedMs: 86_400_000 } as const;

/**
 * How the question was shown to the person: a claim of the browser, or of the backend that sent the
 * consent. A later layout adds names, and no member: the members are part of the frozen format.
 */
export const Presentation = z
  .strictObject({
    layout: Name.describe('Name of the layout, for example `banner`.'),
    layout_version: z.int().min(1).max(1_000_000).describe('Version of the layout.'),
    theme: Name.describe('Name of the theme.'),
    layer: Name.describe('Layer in which the person decided, for example `first` or `settings`.'),
    language: z.string().min(2).max(35).describe('Language of the texts that were shown (BCP 47).'),
    colour_scheme: z.enum(['light', 'dark']).describe('Colours that were shown.'),
    size_class: z.enum(['phone', 'tablet', 'desktop']).describe('Size of the window.'),
    controls: z
      .array(Name)
      .max(PRESENTATION_LIMITS.controls)
      .describe('Controls with which the person could decide, in their order.'),
    preselected: z
      .enum(['nothing', 'earlier', 'gpc'])
      .describe(
        'What was preselected: nothing; the earlier choice of the person; or the refusal that the browser signals (Global Privacy Control).',
      ),
    control: Name.describe('Control that the person used.'),
    elapsed_ms: z
      .int()
      .min(0)
      .max(PRESENTATION_LIMITS.elapsedMs)
      .describe('Time from showing the question to the decision, in milliseconds.'),
    sdk: z.string().min(1).max(PRESENTATION_LIMITS.text).describe('Program that showed it, with its version.'),
  })
  .partial()
  .refine((stated) => Object.keys(stated).length > 0, 'must state something')
  .meta({ id: 'Presentation', minProperties: 1 });
export type Presentation = z.infer<typeof Presentation>;
