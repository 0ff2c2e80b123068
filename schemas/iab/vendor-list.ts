import { z } from 'zod';

/**
 * The part of IAB Europe’s global vendor list (specification version 3) that is checked when a
 * configuration is published. The file itself is never changed.
 */
export const VendorList = z.object({
  gvlSpecificationVersion: z.literal(3),
  vendorListVersion: z.int().min(1).max(4_095),
  tcfPolicyVersion: z.int().min(4).max(63),
  purposes: z.record(z.string(), z.unknown()),
  vendors: z.record(z.string(), z.object({ id: z.int().min(1).max(65_535), deletedDate: z.string().optional() })),
});
export type VendorList = z.infer<typeof VendorList>;
