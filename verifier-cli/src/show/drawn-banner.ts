import { bannerInStatedLanguage } from '../../../schemas/banner/banner-in-language.js';
import { CONSENT_RECORDED, ConsentRecord } from '../../../schemas/events/consent-recorded.js';
import { DEFAULT_APPEARANCE } from '../../../sdk/banner/default-appearance.js';
import { type Drawing, drawingOf, tickedBy } from '../../../sdk/banner/drawing.js';
import { matchShape } from '../files/parse.js';
import { statedPresentation } from './presentation-text.js';
import type { ShownRecord } from './shown-record.js';

/** The banner as it was stated to have been shown. */
export interface DrawnBanner {
  readonly drawing: Drawing;
  readonly layout: string;
  readonly version: number;
  readonly channel: ConsentRecord['channel'];
}

/**
 * Draws the banner from the sealed configuration and the presentation that the record discloses.
 * @returns null: the file does not have both, the configuration lacks the language, this verifier
 *   knows no such layout, or the record is invalid, so that its words may not be sealed
 */
export function drawnBanner(shown: ShownRecord): DrawnBanner | null {
  const { configuration, text } = shown;
  const parsed = shown.type === CONSENT_RECORDED ? matchShape(ConsentRecord, shown.record) : null;
  const stated = statedPresentation(shown);
  if (shown.verdict === 'invalid' || configuration === null || parsed === null || !parsed.ok || stated === null)
    return null;
  const { language, categories, consent_type: type, channel } = parsed.value;
  const words = bannerInStatedLanguage(configuration, stated.language ?? language);
  if (words === null) return null;
  const view = {
    ...words,
    appearance: configuration.appearance ?? DEFAULT_APPEARANCE,
    policy: text === null || type !== 'cookie' ? null : { title: text.title ?? '', language: text.language },
  };
  const drawing = drawingOf(view, stated, tickedBy(stated, categories));
  return drawing && { drawing, layout: stated.layout ?? '', version: stated.layout_version ?? 0, channel };
}
