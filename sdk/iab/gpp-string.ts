import { GppModel } from '@iabgpp/cmpapi';
import { isText } from '../core/guards.js';
import { type GppSection, type GppSettings, SECTION_IDS } from './settings.js';

/** The part of the page that this file reads. */
declare const document: { querySelector(selector: string): object | null };

/** IAB's values of a notice that was given, and of one that was not or an agreement that does not apply. */
const GIVEN = 1;
const NO = 2;
/** IAB's values of an opt-out. */
const OPTED_OUT = 1;
const NOT_OPTED_OUT = 2;

/** Fields that state a notice, and an opt-out. No section has all of them. */
const OPT_OUTS = ['SaleOptOut', 'SharingOptOut', 'TargetedAdvertisingOptOut'];
const NOTICES = ['Sharing', 'Processing', ...OPT_OUTS].map((name) => `${name}Notice`);

/**
 * The sections that apply to a visitor: that of the own state, and that of the National Approach.
 * @param region country and subdivision of the visitor (ISO 3166), as far as they are known
 * @returns none where no law of a state is known that has a section
 */
export function sectionsFor(
  { sections }: GppSettings,
  region: { readonly country: string | null; readonly region?: unknown } | undefined,
): readonly GppSection[] {
  if (region?.country !== 'US' || !isText(region.region)) return [];
  const own = `us${region.region.toLowerCase()}`;
  return SECTION_IDS.has(own) ? sections.filter((name) => name === own || name === 'usnat') : [];
}

/**
 * The GPP string that states whether a visitor opted out. It states the notices as given if the page has the link to the
 * opt-out (sdk/browser/src/opt-out.ts), as the laws of the states ask for.
 * @param sections those that apply, at least one
 * @param isGpcOn whether the browser sends Global Privacy Control
 */
export function gppString(sections: readonly GppSection[], isOptedOut: boolean, isGpcOn: boolean): string {
  const model = new GppModel();
  const notice = document.querySelector('[data-consent-opt-out]') ? GIVEN : NO;
  for (const section of sections) {
    // This makes the section, which has no field before.
    model.setFieldValue(section, 'MspaCoveredTransaction', NO);
    const set = (fields: readonly string[], value: number | boolean) => {
      for (const field of fields) if (model.hasField(section, field)) model.setFieldValue(section, field, value);
    };
    set(NOTICES, notice);
    set(OPT_OUTS, isOptedOut ? OPTED_OUT : NOT_OPTED_OUT);
    set(['Gpc'], isGpcOn);
  }
  return model.encode();
}
