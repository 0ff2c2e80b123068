import { parseVerifierKey, type VerifierKey } from '../../schemas/evidence/signed-note.js';
import {
  memorySource,
  type RecordWatch,
  type VerificationReport,
  type VerifyOptions,
  verifyPackage,
} from '../../verifier-cli/src/index.js';
import { type FixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { expectDocumentedOutcomes } from './documented-outcomes.js';

export function verifierKey(line: string): VerifierKey {
  const key = parseVerifierKey(line);
  if (key === null) throw new Error(`not a verifier key: ${line}`);
  return key;
}

/** Verifies with the fixture's root and ledger key trusted, unless told otherwise. */
export async function verifyFixture(
  authority: FixtureAuthority,
  zip: Uint8Array,
  options: Partial<VerifyOptions> = {},
  watch: RecordWatch | null = null,
): Promise<VerificationReport> {
  const trust = { trustAnchors: [authority.root.der], ledgerKeys: [verifierKey(LEDGER_KEY.verifierKey)] };
  const given = { ...trust, at: VERIFIED_AT, ...options };
  const report = await verifyPackage(memorySource(zip), given, { watch });
  expectDocumentedOutcomes(report);
  return report;
}

/**
 * `{id: outcome}` of the checks that failed, or that stayed open although the verdict needs them.
 */
export function notPassed({ checks }: VerificationReport): Record<string, string> {
  const bad = checks.filter(({ outcome, required }) => outcome === 'fail' || (outcome === 'indeterminate' && required));
  return Object.fromEntries(bad.map(({ id, outcome }) => [id, outcome]));
}
