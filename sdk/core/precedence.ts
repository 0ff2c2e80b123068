import type { BrowserConsent } from '../shared/types.js';

type Framework = NonNullable<BrowserConsent['compliance_framework']>;

/**
 * Whether a signal of the browser (Global Privacy Control) is itself a request by law, which is
 * recorded as an opt-out, also without a choice (CCPA regulations, §7025). Under the other laws, a
 * person may withdraw consent at any time, in as simple a way as it was given: the signal is recorded
 * as the withdrawal of what was permitted.
 *
 * In every law the later of the two counts: the signal ends what an earlier choice permitted, and a
 * choice that the visitor makes while the signal is on counts (docs/sdk.md has the table).
 */
const SIGNAL_OPTS_OUT: Readonly<Record<Framework, boolean>> = {
  kvkk: false,
  gdpr: false,
  uk_gdpr: false,
  ccpa: true,
  lgpd: false,
  popia: false,
  pipeda: false,
  pipl: false,
  pipa: false,
  none: false,
};

/** Whether a signal is itself a request by this law, as far as this SDK knows it. */
export function isRequestBy(law: string | null): boolean {
  return isFramework(law) && SIGNAL_OPTS_OUT[law];
}

/** Whether this SDK knows the law. */
export function isFramework(name: string | null): name is Framework {
  return name !== null && Object.hasOwn(SIGNAL_OPTS_OUT, name);
}
