import { ownMember } from '../json/own-member.js';
import type { GppStatement, OptOutValue } from './gpp-string.js';
import type { GppSettings, TcfSettings } from './iab-settings.js';
import { areKnownVendors, areWithin, type TcStatement } from './tc-string.js';
import type { VendorList } from './vendor-list.js';

/** The answers of a record; true means that the category was permitted. */
type Answers = Readonly<Record<string, boolean>>;

/** A part of a TC string that differs from the configuration and the answers. */
export const TC_PARTS = [
  'cmp',
  'vendor_list',
  'publisher_country',
  'purposes',
  'special_features',
  'legitimate_interests',
  'vendors',
  'disclosed_vendors',
  'more',
] as const;
export type TcPart = (typeof TC_PARTS)[number];

/** Lists the numbers of a framework that the permitted categories stand for, ascending. */
export function permittedNumbers(by: Readonly<Record<string, readonly number[]>>, answers: Answers): number[] {
  const permitted = Object.entries(by).flatMap(([key, numbers]) => (isPermitted(answers, key) ? numbers : []));
  return [...new Set(permitted)].sort((a, b) => a - b);
}

/**
 * Compares a TC string with the configuration under which the person chose, and with the answers. There may be fewer
 * vendors than configured, because a vendor that declares none of the purposes has no consent.
 * @param claiming the vendors for which the format requires the bit of legitimate interest (`claimingVendors`), or null
 * if the vendor list is not known, so that these bits of vendors that were disclosed are not compared
 * @returns the parts that differ
 */
export function tcDifferences(
  stated: TcStatement,
  settings: TcfSettings,
  answers: Answers,
  claiming: readonly number[] | null = null,
): readonly TcPart[] {
  const purposes = permittedNumbers(settings.purposes, answers);
  const features = permittedNumbers(settings.special_features, answers);
  const vendors = purposes.length === 0 ? [] : settings.vendors;
  const agrees: Readonly<Record<TcPart, boolean>> = {
    cmp: stated.cmpId === settings.cmp_id && stated.cmpVersion === settings.cmp_version && stated.isServiceSpecific,
    vendor_list: stated.vendorListVersion === settings.vendor_list.version,
    publisher_country: stated.publisherCountry === settings.publisher_country,
    purposes: stated.purposes.join() === purposes.join(),
    special_features: stated.specialFeatures.join() === features.join(),
    // The SDK claims no legitimate interest for a purpose, and restricts nothing.
    legitimate_interests:
      stated.legitimateInterests.length + stated.restrictions === 0 &&
      areKnownVendors(stated.vendorLegitimateInterests, claiming ?? settings.vendors) &&
      areWithin(stated.vendorLegitimateInterests, stated.disclosed ?? []),
    vendors: areKnownVendors(stated.vendors, vendors),
    disclosed_vendors: stated.disclosed !== null && areKnownVendors(stated.disclosed, settings.vendors),
    more: !stated.hasMore,
  };
  return TC_PARTS.filter((part) => !agrees[part]);
}

/**
 * The vendors of a configuration for which the format requires the bit of legitimate interest if they were displayed:
 * those that only declare special purposes (Transparency and Consent String v2, Vendor Legitimate Interest Section).
 * TCF 2.4, whose lists have standard texts, requires none.
 */
export function claimingVendors({ vendors }: TcfSettings, list: VendorList): readonly number[] {
  if (list.standardTexts !== undefined) return [];
  return vendors.filter((id) => {
    const { purposes = [], legIntPurposes = [], specialPurposes = [] } = list.vendors[id] ?? {};
    return specialPurposes.length > 0 && purposes.length + legIntPurposes.length === 0;
  });
}

/** Whether these answers are an opt-out. */
export function isOptedOut(settings: GppSettings, answers: Answers): boolean {
  return settings.opt_out.some((key) => !isPermitted(answers, key));
}

/** Whether a GPP string has configured sections alone: that of one state at most, and the national one if configured. */
export function areSections({ sections, others }: GppStatement, settings: GppSettings): boolean {
  const stated = sections.map(({ section }) => section);
  const states = stated.filter((section) => section !== 'usnat');
  return (
    others.length === 0 &&
    stated.length > 0 &&
    states.length <= 1 &&
    states.every((section) => settings.sections.includes(section)) &&
    stated.includes('usnat') === settings.sections.includes('usnat')
  );
}

/** Whether every opt-out of a GPP string has a value. */
export function areOptOuts({ sections }: GppStatement, expected: OptOutValue): boolean {
  return sections.every(({ optOuts }) => Object.values(optOuts).every((value) => value === expected));
}

function isPermitted(answers: Answers, key: string): boolean {
  return ownMember(answers, key) === true;
}
