import { Sections } from '@iabgpp/cmpapi';
import { type Guard, isNumber, isText, listOf, objectOf, optional, recordOf } from '../core/guards.js';
import type { SiteConfiguration } from '../shared/types.js';

/** The signals of IAB that the site speaks. */
export type IabSettings = NonNullable<SiteConfiguration['iab']>;
export type TcfSettings = NonNullable<IabSettings['tcf']>;
export type GppSettings = NonNullable<IabSettings['gpp']>;

export type GppSection = GppSettings['sections'][number];

/** Numbers of the sections in IAB's register, by name. */
export const SECTION_IDS: ReadonlyMap<string, number> = new Map(
  [...Sections.SECTION_ID_NAME_MAP].map(([id, name]) => [name, id]),
);

const isSection = (value: unknown): value is GppSection => isText(value) && SECTION_IDS.has(value);

export const isIabSettings: Guard<IabSettings> = objectOf<IabSettings>({
  tcf: optional(
    objectOf<TcfSettings>({
      cmp_id: isNumber,
      cmp_version: isNumber,
      publisher_country: isText,
      vendor_list: objectOf<TcfSettings['vendor_list']>({ version: isNumber, sha256: isText }),
      vendors: listOf(isNumber),
      purposes: recordOf(listOf(isNumber)),
      special_features: recordOf(listOf(isNumber)),
    }),
  ),
  gpp: optional(objectOf<GppSettings>({ cmp_id: isNumber, sections: listOf(isSection), opt_out: listOf(isText) })),
});
