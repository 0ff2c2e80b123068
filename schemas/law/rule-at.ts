import type { SiteRule } from '../events/site-config.js';
import type { ComplianceFramework } from './framework-places.js';
import { stateWithLaw } from './us-states.js';

/** Where a person seems to be. Null: not known. */
export interface KnownPlace {
  /** ISO 3166-1 alpha-2. */
  readonly country: string | null;
  /** Part after the country of ISO 3166-2. */
  readonly region: string | null;
  readonly compliance_framework: ComplianceFramework | null;
}

/**
 * The rule of a site for a place: the first that matches.
 * @returns null if none matches or the place is not known well enough, as the United States without a state: everything
 *   optional then waits for consent
 */
export function ruleAt(rules: readonly SiteRule[] | undefined, place: KnownPlace): SiteRule | null {
  const { country, region, compliance_framework: framework } = place;
  if (rules === undefined || country === null || (country === 'US' && region === null)) return null;
  const names = region === null ? [country] : [country, `${country}-${region}`];
  return (
    rules.find(
      ({ places = [], frameworks = [] }) =>
        places.some((one) => names.includes(one)) || frameworks.some((one) => one === framework),
    ) ?? null
  );
}

/**
 * Whether the browser’s signal is itself a request to opt out there: in a state whose law says so, and wherever the site
 * relies on an opt-out.
 * @param rule the site’s rule for the place
 */
export function isSignalRequest({ country, region }: KnownPlace, rule: SiteRule | null): boolean {
  if (rule !== null && Object.values(rule.categories).some((one) => one.rule === 'opt_out')) return true;
  const state = region === null ? undefined : stateWithLaw(`${country}-${region}`);
  return state !== undefined && state.signalSince !== null;
}
