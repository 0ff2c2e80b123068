import { type Guard, isNumber, isText, listOf, objectOf, optional, recordOf } from '../core/guards.js';
import type { SiteConfiguration } from '../shared/types.js';

/** The signals of IAB that the site speaks. */
export type IabSettings = NonNullable<SiteConfiguration['iab']>;
export type TcfSettings = NonNullable<IabSettings['tcf']>;
export type GppSettings = NonNullable<IabSettings['gpp']>;

const isSection = (value: unknown): value is GppSettings['sections'][number] => value === 'usnat' || value === 'usca';

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
