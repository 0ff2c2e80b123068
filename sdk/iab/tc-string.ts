import { GVL, TCModel, TCString, type VendorList } from '@iabtechlabtcf/core';
import type { Categories } from '../core/choice.js';
import type { TcfSettings } from './settings.js';
import { twoLetterLanguage } from './two-letter-language.js';

const DAY_MS = 86_400_000;

/** The library states the language of the list as that of the question, and does not read another list. */
class ListInLanguage extends GVL {
  readonly #language: string;

  constructor(list: VendorList, language: string) {
    super(list);
    this.#language = language;
  }

  override get language(): string {
    return this.#language;
  }
}

/** @returns a function that writes the TC string of an answer @throws Error if the text is not a vendor list */
export function tcStrings(settings: TcfSettings, list: VendorList): (answer: TcAnswer) => string {
  return ({ categories, language, at, disclosed = settings }) => {
    const gvl = new ListInLanguage(list, twoLetterLanguage(language));
    gvl.narrowVendorsTo([...settings.vendors]);
    const model = new TCModel(gvl);
    model.cmpId = settings.cmp_id;
    model.cmpVersion = settings.cmp_version;
    model.publisherCountryCode = settings.publisher_country;
    model.isServiceSpecific = true;
    // The banner asks in the words of the site, and not in those of IAB Europe.
    model.useNonStandardTexts = true;
    const vendors = settings.vendors.filter((id) => disclosed.vendors.includes(id));
    const purposes = permitted(settings.purposes, disclosed.purposes, categories);
    model.purposeConsents.set(purposes);
    model.specialFeatureOptins.set(permitted(settings.special_features, disclosed.special_features, categories));
    if (purposes.length > 0) model.vendorConsents.set(vendors);
    model.vendorsDisclosed.set(vendors);
    model.vendorLegitimateInterests.set(vendors.filter((id) => claimsByFormat(list, id)));
    // TCF permits whole days only, so that the time tells no visitor from another.
    model.created = new Date(at - (at % DAY_MS));
    model.lastUpdated = model.created;
    return TCString.encode(model);
  };
}

/** The part of the settings that a question disclosed. */
export type Disclosed = Pick<TcfSettings, 'vendors' | 'purposes' | 'special_features'>;

/** States that nobody was shown a question. */
export const NOTHING_DISCLOSED: Disclosed = { vendors: [], purposes: {}, special_features: {} };

/** A choice to write as a TC string. */
export interface TcAnswer {
  /** The answer for every category. */
  readonly categories: Categories;
  /** Language in which the visitor was asked (BCP 47). */
  readonly language: string;
  /** Unix milliseconds of the choice. */
  readonly at: number;
  /** The part of the settings that the visitor was shown; if omitted, all of them. */
  readonly disclosed?: Disclosed | undefined;
}

type Numbers = Readonly<Record<string, readonly number[]>>;

/** The numbers of the permitted categories that stood for them already when the visitor was asked. */
function permitted(by: Numbers, shown: Numbers, categories: Categories): number[] {
  return Object.entries(by).flatMap(([key, numbers]) =>
    categories[key] === true ? numbers.filter((one) => shown[key]?.includes(one)) : [],
  );
}

/**
 * Whether the format requires the bit of legitimate interest for a displayed vendor. Before TCF 2.4, it does for a
 * vendor that only declares special purposes (“the value must be set to 1”, Transparency and Consent String v2, Vendor
 * Legitimate Interest Section). Version 2.4 reads such a vendor from the disclosed ones; its lists have
 * `standardTexts`.
 */
function claimsByFormat(list: VendorList, id: number): boolean {
  const vendor = list.vendors[id];
  if (vendor === undefined || 'standardTexts' in list) return false;
  return vendor.specialPurposes.length > 0 && vendor.purposes.length + vendor.legIntPurposes.length === 0;
}
