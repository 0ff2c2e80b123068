import type { DetectedRegion } from '../../../schemas/api/config.js';

export type ComplianceFramework = Exclude<DetectedRegion['compliance_framework'], null>;

/**
 * Places of each framework: countries by ISO 3166-1 alpha-2, subdivisions by ISO 3166-2. A place
 * that is not listed is under `none`. This is a hint for the banner, not legal advice: laws also
 * apply across borders.
 */
export const FRAMEWORK_PLACES: readonly {
  readonly framework: ComplianceFramework;
  readonly places: readonly string[];
}[] = [
  { framework: 'kvkk', places: ['TR'] },
  {
    framework: 'gdpr',
    places: [
      // The European Union.
      ...['AT', 'BE', 'BG', 'CY', 'CZ', 'DE', 'DK', 'EE', 'ES', 'FI', 'FR', 'GR', 'HR', 'HU'],
      ...['IE', 'IT', 'LT', 'LU', 'LV', 'MT', 'NL', 'PL', 'PT', 'RO', 'SE', 'SI', 'SK'],
      // Parts of member states that have country codes of their own (Article 355 TFEU).
      ...['AX', 'GF', 'GP', 'MF', 'MQ', 'RE', 'YT'],
      // The other countries of the European Economic Area.
      ...['IS', 'LI', 'NO'],
    ],
  },
  { framework: 'uk_gdpr', places: ['GB'] },
  { framework: 'ccpa', places: ['US-CA'] },
  { framework: 'lgpd', places: ['BR'] },
  { framework: 'popia', places: ['ZA'] },
  { framework: 'pipeda', places: ['CA'] },
  { framework: 'pipl', places: ['CN'] },
  { framework: 'pipa', places: ['KR'] },
];
