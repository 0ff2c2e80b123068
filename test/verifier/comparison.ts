import { expect } from 'vitest';
import { Contradiction } from '../../schemas/evidence/contradiction.js';
import type { VerifierKey } from '../../schemas/evidence/signed-note.js';
import { compareHistories } from '../../verifier-cli/src/compare/compare.js';
import { verifyContradiction } from '../../verifier-cli/src/compare/contradiction.js';
import { historyOfPackage } from '../../verifier-cli/src/compare/history.js';
import { englishText } from '../../verifier-cli/src/findings/finding.js';
import { memorySource } from '../../verifier-cli/src/index.js';
import { VERIFIED_AT } from './dishonest-operator/verification.js';

/** Compares two packages or receipts, in both orders. */
export async function compareFiles(a: Uint8Array, b: Uint8Array, keys: readonly VerifierKey[]) {
  const trust = { trustAnchors: [], at: VERIFIED_AT };
  const histories = async () => {
    const one = await historyOfPackage(memorySource(a), keys, trust);
    const other = await historyOfPackage(memorySource(b), keys, trust);
    if (one === null || other === null) throw new Error('a file has no checkpoint');
    return [one, other] as const;
  };
  const [one, other] = await histories();
  const comparison = await compareHistories(one, other, keys, [], new Date());
  const [again, reversed] = await histories();
  expect((await compareHistories(reversed, again, keys, [], new Date())).outcome).toBe(comparison.outcome);
  return { ...comparison, statement: englishText(comparison.statement) };
}

/** Compares, and has the proof verified by itself, as it is written to a file. */
export async function proofFrom(a: Uint8Array, b: Uint8Array, keys: readonly VerifierKey[]) {
  const { outcome, contradiction } = await compareFiles(a, b, keys);
  expect(outcome).toBe('contradiction');
  const proof = Contradiction.parse(JSON.parse(JSON.stringify(contradiction)));
  const verdict = await verifyContradiction(proof, keys, new Date());
  expect(verdict.outcome).toBe('proved');
  return { kind: contradiction?.kind, statement: verdict.statement, proof, file: contradiction };
}
