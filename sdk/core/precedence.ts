import type { BrowserConsent } from '../shared/types.js';

type Framework = NonNullable<BrowserConsent['compliance_framework']>;

/**
 * What is recorded when a signal of the browser (Global Privacy Control) comes later than a choice.
 * In every law the later of the two counts: the signal ends what an earlier choice permitted, and a
 * choice that the visitor makes while the signal is on counts (docs/sdk.md has the table).
 *
 * - `opt_out`: the signal itself is a request by law, also without a choice (CCPA regulations, §7025).
 * - `withdrawal`: the law lets a person withdraw consent at any time, in as simple a way as it was
 *   given; the signal is recorded as the withdrawal of what was permitted.
 */
export const SIGNAL_RECORDS: Readonly<Record<Framework, 'opt_out' | 'withdrawal'>> = {
  kvkk: 'withdrawal',
  gdpr: 'withdrawal',
  uk_gdpr: 'withdrawal',
  ccpa: 'opt_out',
  lgpd: 'withdrawal',
  popia: 'withdrawal',
  pipeda: 'withdrawal',
  pipl: 'withdrawal',
  pipa: 'withdrawal',
  none: 'withdrawal',
};

/** Whether this SDK knows the law. */
export function isFramework(name: string | null): name is Framework {
  return name !== null && Object.hasOwn(SIGNAL_RECORDS, name);
}
