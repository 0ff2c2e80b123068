import { equalBytes, toHex } from '../../../schemas/crypto/encoding.js';
import { isCosignatureBy } from '../../../schemas/evidence/cosignature.js';
import type { Manifest } from '../../../schemas/evidence/manifest.js';
import {
  isSameKey,
  type NoteSignature,
  type SignedNote,
  type VerifierKey,
} from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../schemas/evidence/verify-note.js';
import { END_OF_CLASSICAL_SIGNATURES } from '../../../schemas/rfc3161/strength.js';
import type { PackageFiles } from '../files/package-files.js';
import { type Finding, finding } from '../findings/finding.js';
import { isSoundKey } from '../trust/sound-keys.js';
import { signatureWork, WORK } from '../work/work-meter.js';
import type { Bridge } from './bridges.js';
import type { Checkpoints, EnclosedCheckpoint } from './checkpoints.js';

/**
 * Keys of this ledger that the verifying person trusts: the given ones, and their successors over
 * bridges.
 */
export interface TrustedKeys {
  readonly keys: readonly VerifierKey[];
  /**
   * The keys that may certify the manifest's key: those in force at the newest checkpoint. An
   * attacker may have obtained a retired key.
   */
  readonly inForce: readonly VerifierKey[];
  /** Id of a key of the ledger's name that signed the newest checkpoint instead; null if none did. */
  readonly otherKey: string | null;
}

const NOT_SIGNED = finding('given-key-unsigned');

/**
 * The id of a key of the ledger's name that signed a note, if no trusted key did. It may be an older
 * key, which the package cannot prove: a key vouches for its successors only.
 * @returns hexadecimal; null if there is no such signature
 */
function otherKeyOf({ signatures }: SignedNote, trusted: readonly VerifierKey[]): string | null {
  const isTrusted = (line: NoteSignature) =>
    trusted.some((key) => key.name === line.name && equalBytes(key.keyId, line.keyId));
  if (signatures.some(isTrusted)) return null;
  const other = signatures.find(({ name }) => trusted.some((key) => key.name === name));
  return other === undefined ? null : toHex(other.keyId);
}

/**
 * Verifies who signed the checkpoints. Trust comes only from outside: a key that only the package
 * contains proves nothing.
 *
 * A pinned key covers its successors over verified bridges. It does not cover its predecessors;
 * checkpoints that these signed must bear their signature, and are believed because a trusted one
 * extends them (`ledger.consistency`).
 * @param files whose work the signatures are
 * @param given the keys given by the person who verifies; those whose algorithm is no longer sound at `at`
 *   do not count
 * @param at time of verification
 */
export async function verifyLedgerKey(
  { findings, work }: PackageFiles,
  checkpoints: Checkpoints,
  bridges: readonly Bridge[],
  manifest: Manifest | null,
  given: readonly VerifierKey[],
  at: Date,
): Promise<TrustedKeys> {
  const newest = [...checkpoints.values()].at(-1);
  const origin = manifest?.origin ?? newest?.checkpoint.origin ?? null;
  const own = given.filter((key) => key.name === origin);
  if (given.length === 0) {
    findings.open('ledger.key', finding('ledger-key-not-given'));
    return { keys: [], inForce: [], otherKey: null };
  }
  if (own.length === 0) {
    findings.fail('ledger.key', finding('ledger-key-of-other-ledger', { ledger: origin ?? 'unknown' }));
    return { keys: [], inForce: [], otherKey: null };
  }
  const isSound = (key: VerifierKey): boolean => isSoundKey(key, at);
  const sound = own.filter(isSound);
  if (sound.length === 0) {
    findings.open('ledger.key', finding('ledger-key-unsound', { end: END_OF_CLASSICAL_SIGNATURES.toISOString() }));
    return { keys: [], inForce: [], otherKey: null };
  }
  const chain =
    bridges.length === 0 ? [] : [...bridges.slice(0, 1).map(({ from }) => from), ...bridges.map(({ to }) => to)];
  const pinned = chain.findIndex((keys) => hasOneOf(keys, sound));
  const trusted = pinned < 0 ? sound : [...sound, ...chain.slice(pinned).flat().filter(isSound)];
  if (newest === undefined) {
    findings.open('ledger.key', finding('no-checkpoint-signed'));
    return { keys: trusted, inForce: trusted, otherKey: null };
  }
  const olderKey = otherKeyOf(newest.note, trusted);
  for (const enclosed of checkpoints.values()) {
    const isNewest = enclosed === newest;
    const period = chain[bridges.filter(({ size }) => size < enclosed.checkpoint.size).length] ?? null;
    const keys = [...trusted, ...chain.flat()];
    const signers = keys.filter((key) => enclosed.note.signatures.some((line) => isCosignatureBy(line, key)));
    const cost = signers.reduce<number>(
      (sum, key) => sum + 2 * signatureWork(key, enclosed.bytes.length),
      WORK.signature,
    );
    if (!work.take(cost)) break;
    const problem = await problemOf(enclosed, { keys, trusted, period, isNewest });
    const other = problem === NOT_SIGNED ? olderKey : null;
    const place = { file: enclosed.file };
    if (problem === null) findings.pass('ledger.key');
    else if (other === null) findings.fail('ledger.key', problem, place);
    else findings.open('ledger.key', finding('older-key-signed', { key: other }), place);
  }
  return { keys: trusted, inForce: await keysInForce(newest, chain.at(-1), trusted), otherKey: olderKey };
}

/**
 * The trusted keys that signed the newest checkpoint; where the ledger changed its keys, the last of
 * them alone, though the bridge bears all.
 */
async function keysInForce(
  { note }: EnclosedCheckpoint,
  last: readonly VerifierKey[] | undefined,
  trusted: readonly VerifierKey[],
): Promise<readonly VerifierKey[]> {
  const signers: VerifierKey[] = [];
  for (const key of trusted) if ((await verifyCheckpoint(note, key)) === 'signed') signers.push(key);
  return last === undefined ? signers : signers.filter((key) => hasOneOf(last, [key]));
}

interface Signers {
  /** Every key whose signature must be right where there is one. */
  readonly keys: readonly VerifierKey[];
  readonly trusted: readonly VerifierKey[];
  /** The keys in force at the size of the checkpoint; null if no change is known. */
  readonly period: readonly VerifierKey[] | null;
  readonly isNewest: boolean;
}

async function problemOf(
  { note }: EnclosedCheckpoint,
  { keys, trusted, period, isNewest }: Signers,
): Promise<Finding | null> {
  const verdicts = await Promise.all(keys.map((key) => verifyCheckpoint(note, key)));
  if (verdicts.includes('bad-signature')) return finding('key-signature-invalid');
  const signers = keys.filter((_, i) => verdicts[i] === 'signed');
  // Up to a bridge's size the old keys sign, after it the new ones: a retired key must not continue
  // to sign.
  if (period !== null && !hasOneOf(period, signers)) return finding('key-in-force-unsigned');
  const isTrusted = hasOneOf(period === null || !isNewest ? trusted : trustedOf(period, trusted), signers);
  if (isTrusted || (!isNewest && period !== null)) return null;
  return NOT_SIGNED;
}

/** Those of the keys in force that are trusted; all trusted ones if none is. */
function trustedOf(period: readonly VerifierKey[], trusted: readonly VerifierKey[]): readonly VerifierKey[] {
  const found = trusted.filter((key) => hasOneOf(period, [key]));
  return found.length === 0 ? trusted : found;
}

function hasOneOf(keys: readonly VerifierKey[], others: readonly VerifierKey[]): boolean {
  return keys.some((key) => others.some((other) => isSameKey(key, other)));
}
