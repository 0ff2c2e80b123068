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

/** Sites in regions whose laws differ for an SDK. */
export const ALL_LAWS: readonly Site[] = [{ law: 'gdpr' }, { law: 'ccpa' }, {}];
export const GDPR: readonly Site[] = [{ law: 'gdpr' }];
export const CCPA: readonly Site[] = [{ law: 'ccpa' }];
