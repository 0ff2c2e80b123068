import { GVL, TCModel, TCString, type VendorList } from '@iabtechlabtcf/core';
import type { Categories } from '../core/choice.js';
import type { TcfSettings } from './settings.js';

const DAY_MS = 86_400_000;

/** The library states the language of the list as that of the question, and reads no other list than that. */
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

/** @returns writes the TC string of an answer @throws Error if the list is none */
export function tcStrings(settings: TcfSettings, list: VendorList): (answer: TcAnswer) => string {
  return ({ categories, language, at }) => {
    const gvl = new ListInLanguage(list, language.slice(0, 2).toUpperCase());
    gvl.narrowVendorsTo([...settings.vendors]);
    const model = new TCModel(gvl);
    model.cmpId = settings.cmp_id;
    model.cmpVersion = settings.cmp_version;
    model.publisherCountryCode = settings.publisher_country;
    model.isServiceSpecific = true;
    const purposes = permitted(settings.purposes, categories);
    model.purposeConsents.set(purposes);
    model.specialFeatureOptins.set(permitted(settings.special_features, categories));
    if (purposes.length > 0) model.vendorConsents.set([...settings.vendors]);
    model.vendorsDisclosed.set([...settings.vendors]);
    // TCF permits whole days only, so that the time tells no visitor from another.
    model.created = new Date(at - (at % DAY_MS));
    model.lastUpdated = model.created;
    return TCString.encode(model);
  };
}

/** A choice to write as a TC string. */
export interface TcAnswer {
  /** The answer for every category. */
  readonly categories: Categories;
  /** Language in which the visitor was asked (BCP 47). */
  readonly language: string;
  /** Unix milliseconds of the choice. */
  readonly at: number;
}

function permitted(by: Readonly<Record<string, readonly number[]>>, categories: Categories): number[] {
  return Object.entries(by).flatMap(([key, numbers]) => (categories[key] === true ? numbers : []));
}
