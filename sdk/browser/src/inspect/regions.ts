/** A region to try, with the law that the service states for it. */
export interface TriedRegion {
  readonly name: string;
  readonly country: string | null;
  readonly region: string | null;
  readonly law: string | null;
}

/** One region for each law that the service knows, and one without; a test compares them with those of the service. */
export const REGIONS: readonly TriedRegion[] = [
  { name: 'Germany', country: 'DE', region: null, law: 'gdpr' },
  { name: 'United Kingdom', country: 'GB', region: null, law: 'uk_gdpr' },
  { name: 'Türkiye', country: 'TR', region: null, law: 'kvkk' },
  { name: 'California', country: 'US', region: 'CA', law: 'ccpa' },
  { name: 'Brazil', country: 'BR', region: null, law: 'lgpd' },
  { name: 'South Africa', country: 'ZA', region: null, law: 'popia' },
  { name: 'Canada', country: 'CA', region: null, law: 'pipeda' },
  { name: 'China', country: 'CN', region: null, law: 'pipl' },
  { name: 'South Korea', country: 'KR', region: null, law: 'pipa' },
  { name: 'India', country: 'IN', region: null, law: 'dpdp' },
  { name: 'Switzerland', country: 'CH', region: null, law: 'fadp' },
  { name: 'Japan', country: 'JP', region: null, law: 'none' },
  { name: 'unknown', country: null, region: null, law: null },
];
