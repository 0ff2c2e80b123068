import { bannerInStatedLanguage } from '../../../schemas/banner/banner-in-language.js';
import { labelsIn } from '../../../schemas/banner/known-labels.js';
import { servicesOf } from '../../../schemas/events/consent-imported.js';
import { CONSENT_RECORDED, ConsentRecord } from '../../../schemas/events/consent-recorded.js';
import { DEFAULT_APPEARANCE } from '../../../sdk/banner/default-appearance.js';
import { type Drawing, drawingOf, tickedBy } from '../../../sdk/banner/drawing.js';
import { type Drawn, type DrawnElement, draw } from '../../../sdk/banner/drawn.js';
import { matchShape } from '../files/parse.js';
import { inPlace } from '../rendering/printable.js';
import { statedPresentation } from './presentation-text.js';
import type { ShownRecord } from './shown-record.js';

/** The banner as it was stated to have been shown. */
export interface DrawnBanner {
  readonly drawing: Drawing;
  readonly layout: string;
  readonly version: number;
  readonly channel: ConsentRecord['channel'];
}

/** Why a stated presentation is not drawn. */
export const NOT_DRAWN = ['invalid', 'imported', 'configuration', 'language', 'layout'] as const;
export type NotDrawn = (typeof NOT_DRAWN)[number];

/**
 * Draws the banner from the sealed configuration and the presentation that the record discloses.
 * @returns null if no question is disclosed, or why it is not drawn: the record is invalid (so its words may not be
 *   sealed) or imported, the file lacks the configuration, the configuration lacks the language, or this verifier does
 *   not know the layout with everything that is stated
 */
export function drawnBanner(shown: ShownRecord): DrawnBanner | NotDrawn | null {
  const { configuration, text } = shown;
  const parsed = shown.type === CONSENT_RECORDED ? matchShape(ConsentRecord, shown.record) : null;
  const stated = statedPresentation(shown);
  // A notice alone is not a question. Its text is shown next to the record.
  if (stated === null || (stated.notice !== undefined && stated.layer === undefined)) return null;
  if (shown.verdict === 'invalid') return 'invalid';
  if (parsed === null || !parsed.ok) return 'imported';
  if (configuration === null) return 'configuration';
  const { language, categories, consent_type: type, channel } = parsed.value;
  const words = bannerInStatedLanguage(
    configuration,
    { language: stated.language ?? language, rule: stated.rule },
    labelsIn,
  );
  if (words === null) return 'language';
  const view = {
    ...words,
    appearance: configuration.appearance ?? DEFAULT_APPEARANCE,
    policy:
      text === null || (type !== 'cookie' && type !== 'objection')
        ? null
        : { title: text.title ?? '', language: text.language },
  };
  const drawing = drawingOf(view, stated, tickedBy(stated, categories), tickedBy(stated, servicesOf(parsed.value)));
  if (drawing === null) return 'layout';
  const content = plainly(drawing.content);
  return {
    drawing: { ...drawing, content },
    layout: stated.layout ?? '',
    version: stated.layout_version ?? 0,
    channel,
  };
}

/** Neutralises text that reorders: an override in a label could display “accept” as another word. */
function plainly({ tag, attributes, children }: DrawnElement): DrawnElement {
  const plain = Object.entries(attributes).map(([name, value]) => [name, value === true ? true : inPlace(value)]);
  return draw(
    tag,
    Object.fromEntries(plain),
    ...children.map((child: Drawn) => (typeof child === 'string' ? inPlace(child) : plainly(child))),
  );
}
