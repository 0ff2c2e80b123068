import type { VendorList } from '@iabtechlabtcf/core';

/** Purposes that each vendor of the list declares. */
const PURPOSES = [1, 3, 4];

/** A vendor list in the form of IAB Europe, of invented vendors. @param vendors their numbers @param special those that declare special purposes alone */
export function inventedVendorList(
  version: number,
  vendors: readonly number[],
  special: readonly number[] = [],
): VendorList {
  const named = (count: number) =>
    Object.fromEntries(
      Array.from({ length: count }, (_, index) => [
        index + 1,
        { id: index + 1, name: `Name ${index + 1}`, description: 'A description.', illustrations: [] },
      ]),
    );
  return {
    gvlSpecificationVersion: 3,
    vendorListVersion: version,
    tcfPolicyVersion: 5,
    lastUpdated: '2026-11-05T16:00:00Z',
    purposes: named(11),
    specialPurposes: named(3),
    features: named(3),
    specialFeatures: named(2),
    stacks: {},
    dataCategories: {},
    vendors: Object.fromEntries(
      vendors.map((id) => [
        id,
        {
          id,
          name: `Vendor ${id}`,
          purposes: special.includes(id) ? [] : PURPOSES,
          legIntPurposes: [],
          flexiblePurposes: [],
          specialPurposes: special.includes(id) ? [1] : [],
          features: [],
          specialFeatures: [1],
          policyUrl: `https://vendor-${id}.example/policy`,
          usesCookies: true,
          cookieMaxAgeSeconds: 86_400,
          cookieRefresh: false,
          usesNonCookieAccess: false,
          dataRetention: { stdRetention: 30, purposes: {}, specialPurposes: {} },
          urls: [],
          dataDeclaration: [],
          deviceStorageDisclosureUrl: '',
        },
      ]),
    ),
  };
}
