import type { CheckResult } from '../findings/findings.js';

/** The cause of a check whose findings all follow from others, in words. */
export function becauseText({ because }: Pick<CheckResult, 'because'>): string {
  return `because of ${because.join(' and ')}`;
}

/** What a check leaves undecided or lets fail besides itself, in words. */
export function affectsText({ affects }: Pick<CheckResult, 'affects'>): string {
  return `because of this, also failed or open: ${affects.join(', ')}`;
}
