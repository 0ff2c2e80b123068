import * as z from 'zod';
import { Sha256Hex } from '../evidence/primitives.js';
import { GPP_SECTION_NAMES } from './gpp-string.js';

const MOST_VENDORS = 1_500;
/** Purposes and special features of TCF 2.4. */
const PURPOSES = 11;
const SPECIAL_FEATURES = 2;

const CategoryKeys = z.array(z.string().max(50)).min(1, 'must name at least one category').max(100);
const numbers = (largest: number) =>
  z
    .array(z.int().min(1).max(largest))
    .max(largest)
    .refine((list) => new Set(list).size === list.length, 'lists a number twice');

/** The site as a participant of IAB Europe’s Transparency and Consent Framework. */
export const TcfSettings = z
  .strictObject({
    cmp_id: z.int().min(2).max(4_095).describe('Number under which IAB Europe registered the consent platform.'),
    cmp_version: z.int().min(1).max(4_095).describe('Version of the consent platform, as registered.'),
    publisher_country: z
      .string()
      .regex(/^[A-Z]{2}$/, 'must be two capital letters, for example DE')
      .describe('Country of the publisher (ISO 3166-1 alpha-2).'),
    vendor_list: z
      .strictObject({
        version: z.int().min(1).max(4_095).describe('`vendorListVersion` of the file.'),
        sha256: Sha256Hex.describe('SHA-256 of the file.'),
      })
      .describe('The vendor list that the operator supplies as a file.'),
    vendors: numbers(65_535)
      .max(MOST_VENDORS)
      .min(1, 'must name at least one vendor')
      .describe('Vendors of the list that the site works with.'),
    purposes: z
      .record(z.string().max(50), numbers(PURPOSES).min(1))
      .describe('Purposes that each category permits, by the key of the category.'),
    special_features: z
      .record(z.string().max(50), numbers(SPECIAL_FEATURES).min(1))
      .describe('Special features that each category permits, by the key of the category.'),
  })
  .meta({ id: 'TcfSettings' });
export type TcfSettings = z.infer<typeof TcfSettings>;

/** The site in IAB Tech Lab’s Global Privacy Platform, for laws of the United States. */
export const GppSettings = z
  .strictObject({
    cmp_id: z.int().min(0).max(4_095).describe('Number of the consent platform; 1: not registered.'),
    sections: z
      .array(z.enum(GPP_SECTION_NAMES))
      .min(1, 'must name at least one section')
      .max(GPP_SECTION_NAMES.length)
      .refine((list) => new Set(list).size === list.length, 'lists a section twice')
      .describe(
        'Sections that the string may have: a visitor’s own state’s, and `usnat` for a site that follows the National Approach.',
      ),
    opt_out: CategoryKeys.describe(
      'Categories without which a person has opted out of sale, sharing and targeted advertising.',
    ),
  })
  .meta({ id: 'GppSettings' });
export type GppSettings = z.infer<typeof GppSettings>;

/** Signals of IAB that the site sends. */
export const IabSettings = z
  .strictObject({ tcf: TcfSettings.exactOptional(), gpp: GppSettings.exactOptional() })
  .meta({ id: 'IabSettings' });
export type IabSettings = z.infer<typeof IabSettings>;
