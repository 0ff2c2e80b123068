import { GppModel } from '@iabgpp/cmpapi';
import type { GppSettings } from './settings.js';

/** Numbers of the sections in IAB's register. */
export const SECTION_IDS: Readonly<Record<GppSettings['sections'][number], number>> = { usnat: 7, usca: 8 };

/** IAB's values of a notice that was given, and of an agreement that does not apply. */
const GIVEN = 1;
const NO = 2;
/** IAB's values of an opt-out. */
const OPTED_OUT = 1;
const NOT_OPTED_OUT = 2;

/** Fields that state the notice, and the opt-out, by section. */
const FIELDS = {
  usnat: {
    notices: ['SharingNotice', 'SaleOptOutNotice', 'SharingOptOutNotice', 'TargetedAdvertisingOptOutNotice'],
    optOuts: ['SaleOptOut', 'SharingOptOut', 'TargetedAdvertisingOptOut'],
  },
  usca: { notices: ['SaleOptOutNotice', 'SharingOptOutNotice'], optOuts: ['SaleOptOut', 'SharingOptOut'] },
} as const;

/** The GPP string that states whether a visitor opted out. @param isGpcOn whether the browser sends Global Privacy Control */
export function gppString({ sections }: GppSettings, isOptedOut: boolean, isGpcOn: boolean): string {
  const model = new GppModel();
  for (const section of sections) {
    for (const field of FIELDS[section].notices) model.setFieldValue(section, field, GIVEN);
    for (const field of FIELDS[section].optOuts)
      model.setFieldValue(section, field, isOptedOut ? OPTED_OUT : NOT_OPTED_OUT);
    model.setFieldValue(section, 'MspaCoveredTransaction', NO);
    model.setFieldValue(section, 'Gpc', isGpcOn);
  }
  return model.encode();
}
