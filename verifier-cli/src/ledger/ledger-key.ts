import { equalBytes, toHex } from '../../../schemas/crypto/encoding.js';
import type { Manifest } from '../../../schemas/evidence/manifest.js';
import {
  isSameKey,
  type NoteSignature,
  type SignedNote,
  type VerifierKey,
} from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../schemas/evidence/verify-note.js';
import type { PackageFiles } from '../files/package-files.js';
import { type Finding, finding } from '../findings/finding.js';
import { WORK } from '../work/work-meter.js';
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
 * @param given the keys given by the person who verifies
 */
export async function verifyLedgerKey(
  { findings, work }: PackageFiles,
  checkpoints: Checkpoints,
  bridges: readonly Bridge[],
  manifest: Manifest | null,
  given: readonly VerifierKey[],
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
  const chain =
    bridges.length === 0 ? [] : [...bridges.slice(0, 1).map(({ from }) => from), ...bridges.map(({ to }) => to)];
  const pinned = chain.findIndex((key) => own.some((other) => isSameKey(key, other)));
  const trusted = pinned < 0 ? own : [...own, ...chain.slice(pinned)];
  if (newest === undefined) {
    findings.open('ledger.key', finding('no-checkpoint-signed'));
    return { keys: trusted, inForce: trusted, otherKey: null };
  }
  const olderKey = otherKeyOf(newest.note, trusted);
  for (const enclosed of checkpoints.values()) {
    // Each of the keys may have signed it.
    const lines = Math.min(enclosed.note.signatures.length, trusted.length + chain.length);
    if (!work.take((lines + 1) * (WORK.signature + enclosed.bytes.length))) break;
    const problem = await problemOf(enclosed, chain, bridges, trusted, enclosed === newest);
    const other = problem === NOT_SIGNED ? olderKey : null;
    const at = { file: enclosed.file };
    if (problem === null) findings.pass('ledger.key');
    else if (other === null) findings.fail('ledger.key', problem, at);
    else findings.open('ledger.key', finding('older-key-signed', { key: other }), at);
  }
  return { keys: trusted, inForce: await keysInForce(newest, chain.at(-1), trusted), otherKey: olderKey };
}

/**
 * The trusted keys that signed the newest checkpoint; where the ledger changed its key, the last of
 * them alone, though the bridge bears both.
 */
async function keysInForce(
  { note }: EnclosedCheckpoint,
  last: VerifierKey | undefined,
  trusted: readonly VerifierKey[],
): Promise<readonly VerifierKey[]> {
  const signers: VerifierKey[] = [];
  for (const key of trusted) if ((await verifyCheckpoint(note, key)) === 'signed') signers.push(key);
  return last === undefined ? signers : signers.filter((key) => isSameKey(key, last));
}

async function problemOf(
  { note, checkpoint }: EnclosedCheckpoint,
  chain: readonly VerifierKey[],
  bridges: readonly Bridge[],
  trusted: readonly VerifierKey[],
  isNewest: boolean,
): Promise<Finding | null> {
  const verdicts = await Promise.all([...trusted, ...chain].map((key) => verifyCheckpoint(note, key)));
  if (verdicts.includes('bad-signature')) return finding('key-signature-invalid');
  // Up to a bridge's size the old key signs, after it the new one: a retired key must not continue
  // to sign.
  const period = chain[bridges.filter(({ size }) => size < checkpoint.size).length];
  if (period !== undefined && (await verifyCheckpoint(note, period)) !== 'signed')
    return finding('key-in-force-unsigned');
  const isTrusted = verdicts.slice(0, trusted.length).includes('signed');
  if (isTrusted || (!isNewest && period !== undefined)) return null;
  return NOT_SIGNED;
}
