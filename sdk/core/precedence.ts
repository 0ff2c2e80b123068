import type { BrowserConsent } from '../shared/types.js';

type Framework = NonNullable<BrowserConsent['compliance_framework']>;

/**
 * Whether a signal of the browser (Global Privacy Control) is itself a request by this law, which is recorded as an
 * opt-out, even without a choice (CCPA regulations, §7025). Under the other laws, a person may withdraw consent at any
 * time, in as simple a way as it was given: the signal is recorded as the withdrawal of what was permitted.
 *
 * In every law the later of the two counts: the signal ends what an earlier choice permitted, and a
 * choice that the visitor makes while the signal is on counts (docs/sdk-rules.md has the table).
 */
export function isRequestBy(law: string | null): boolean {
  return law === ('ccpa' satisfies Framework);
}
