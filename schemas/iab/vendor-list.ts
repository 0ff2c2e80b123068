import * as z from 'zod';

/** Purposes that a vendor declares. */
const Numbers = z.array(z.int().min(1).max(63)).max(63).optional();

/**
 * The part of IAB Europe’s global vendor list (specification version 3) that is checked when a
 * configuration is published. The file itself is never changed.
 */
export const VendorList = z.object({
  gvlSpecificationVersion: z.literal(3),
  vendorListVersion: z.int().min(1).max(4_095),
  tcfPolicyVersion: z.int().min(4).max(63),
  purposes: z.record(z.string(), z.unknown()),
  /** Since TCF 2.4. */
  standardTexts: z.unknown().optional(),
  vendors: z.record(
    z.string(),
    z.object({
      id: z.int().min(1).max(65_535),
      deletedDate: z.string().optional(),
      purposes: Numbers,
      legIntPurposes: Numbers,
      specialPurposes: Numbers,
    }),
  ),
});
export type VendorList = z.infer<typeof VendorList>;
