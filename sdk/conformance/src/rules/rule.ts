import type { Site } from '../site.js';
import type { Visit } from '../visit.js';

/** A rule that every SDK keeps, with what shows whether it does. */
export interface Rule {
  /** Says what an SDK does that keeps it. */
  readonly name: string;
  /** The sites on which it is tried, each with devices that kept nothing. */
  readonly sites: readonly Site[];
  /** @throws ConformanceError if the SDK breaks the rule */
  play(visit: Visit): Promise<void>;
}

const SERVICES = { analytics: ['counter'], marketing: ['maps', 'films'] } as const;

/** Sites in regions whose laws differ for an SDK, and with services, which follow their categories. */
export const ALL_LAWS: readonly Site[] = [
  { law: 'gdpr' },
  { law: 'ccpa' },
  {},
  { law: 'gdpr', services: SERVICES },
  { law: 'ccpa', services: SERVICES, hasSwitches: true },
];
export const GDPR: readonly Site[] = [{ law: 'gdpr' }];
export const CCPA: readonly Site[] = [{ law: 'ccpa' }];
