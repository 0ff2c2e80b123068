import {
  memorySource,
  NotAPackage,
  type VerificationReport,
  type VerifyOptions,
  verifyPackage,
} from '../../../verifier-cli/src/index.js';
import { expectDocumentedOutcomes } from '../documented-outcomes.js';
import { choose, draftOf, packed, type Request } from './export.js';
import { type Ledger, makeLedger, type Plan } from './ledger.js';
import type { TimeAuthority } from './time-authority.js';
import { makePlan, type WorldOptions } from './world.js';

/** After the ledgers of all test worlds end. */
export const VERIFIED_AT = new Date('2026-03-05T08:00:00.000Z');

/** Verifies a package, the authority's root and the plan's first ledger key being trusted. */
export async function verify(
  zip: Uint8Array,
  plan: Plan,
  authority: TimeAuthority,
  options: Partial<VerifyOptions> = {},
): Promise<VerificationReport> {
  const report = await verifyPackage(memorySource(zip), {
    trustAnchors: [authority.anchor],
    ledgerKeys: [plan.keys.first],
    at: VERIFIED_AT,
    ...options,
  });
  expectDocumentedOutcomes(report);
  return report;
}

/** Verdict on bytes that may be no package at all. */
export async function verdictOf(zip: Uint8Array, plan: Plan, authority: TimeAuthority): Promise<string> {
  try {
    return (await verify(zip, plan, authority)).verdict;
  } catch (error) {
    if (error instanceof NotAPackage) return 'no package';
    throw error;
  }
}

/** `{id: outcome}` of the checks that failed, or that stayed open although the verdict needs them. */
export function notPassed({ checks }: VerificationReport): Readonly<Record<string, string>> {
  const bad = checks.filter(({ outcome, required }) => outcome === 'fail' || (outcome === 'indeterminate' && required));
  return Object.fromEntries(bad.map(({ id, outcome }) => [id, outcome]));
}

/** The honest package that answers a request. */
export function honestPackage(ledger: Ledger, request: Request, size?: number): Uint8Array {
  return packed(draftOf(ledger, request, choose(ledger, request, size)));
}

export function honestLedger(world: WorldOptions, authority: TimeAuthority): Ledger {
  return makeLedger(makePlan(world), authority);
}
