import * as z from 'zod';

const Name = z.string().regex(/^[a-z0-9][a-z0-9_.-]{0,39}$/);

const Language = z.string().min(2).max(35);

/** A notice as it was shown. If it belongs to an SDK, its version identifies the words in each language. */
const ShownNotice = z
  .strictObject({
    text: z.string().min(1).max(500).describe('Words.'),
    language: Language.describe('Their language (BCP 47).'),
    version: z.int().min(1).max(1_000_000).describe('Their version.'),
  })
  .describe('Notice that was shown.');

/** What an account's choice means, in the words that were shown beside the question. */
const ShownAccount = z
  .strictObject({
    text: z.string().min(1).max(1_000).describe('Words.'),
    language: Language.describe('Their language (BCP 47).'),
  })
  .describe('What was said about the choice of the account.');

const MOST_CONTROLS = 20;
const DAY_MS = 86_400_000;

/**
 * How the question was shown to the person, as the browser or the backend that sent the consent claims. A later layout
 * may add names but not members, because the members are part of the frozen format. A notice may have been shown
 * without a question.
 */
export const Presentation = z
  .strictObject({
    layout: Name.describe('Name of the layout, for example `banner`.'),
    layout_version: z.int().min(1).max(1_000_000).describe('Version of the layout.'),
    theme: Name.describe('Name of the theme.'),
    layer: Name.describe('Layer in which the person decided, for example `first` or `settings`.'),
    language: Language.describe('Language of the texts that were shown (BCP 47).'),
    colour_scheme: z.enum(['light', 'dark']).describe('Colours that were shown.'),
    size_class: z.enum(['phone', 'tablet', 'desktop']).describe('Size of the window.'),
    text_size: z
      .enum(['below_12', 'usual', 'enlarged'])
      .describe('Smallest text: below 12 pixels, 12 to 16, or larger.'),
    controls: z.array(Name).max(MOST_CONTROLS).describe('Controls with which the person could decide, in their order.'),
    preselected: z
      .enum(['nothing', 'earlier', 'gpc'])
      .describe(
        'What was preselected: nothing; the earlier choice of the person; or the refusal that the browser signals (Global Privacy Control).',
      ),
    control: Name.describe('Control that the person used.'),
    elapsed_ms: z.int().min(0).max(DAY_MS).describe('Time from showing the question to the decision, in milliseconds.'),
    notice: ShownNotice,
    account: ShownAccount,
    rule: Name.describe('Reserved: rule by which the person was asked.'),
    sdk: z.string().min(1).max(40).describe('Program that showed it, with its version.'),
  })
  .partial()
  .refine((stated) => Object.keys(stated).length > 0, 'must state something')
  .meta({ id: 'Presentation', minProperties: 1 });
export type Presentation = z.infer<typeof Presentation>;
