import { equalBytes, toHex } from '../../../schemas/crypto/encoding.js';
import { isCosignatureBy } from '../../../schemas/evidence/cosignature.js';
import type { Manifest } from '../../../schemas/evidence/manifest.js';
import type { NoteSignature, SignedNote, VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../schemas/evidence/verify-note.js';
import { END_OF_CLASSICAL_SIGNATURES } from '../../../schemas/rfc3161/strength.js';
import type { PackageFiles } from '../files/package-files.js';
import { type Finding, finding } from '../findings/finding.js';
import { isSoundKey } from '../trust/sound-keys.js';
import { signatureWork, WORK } from '../work/work-meter.js';
import type { EnclosedAnnouncements } from './announcements.js';
import { hasOneOf, type KeyChain, type TrustedChain, trustedBy } from './announcements.js';
import type { Checkpoints, EnclosedCheckpoint } from './checkpoints.js';

/**
 * Keys of this ledger that the relying party trusts: the given keys and, through announcements, their successors.
 */
export interface TrustedKeys {
  readonly keys: readonly VerifierKey[];
  /**
   * The keys that may certify the manifest's key: those in force at the newest checkpoint. An
   * attacker may have obtained a retired key.
   */
  readonly inForce: readonly VerifierKey[];
  /**
   * The same keys, and those of announcements whose proof is incomplete. Null if there are none. What only these keys
   * signed is neither wrong nor proved.
   */
  readonly unproved: Pick<TrustedKeys, 'keys' | 'inForce'> | null;
  /** Id of a key of the ledger's name that signed the newest checkpoint instead, or null if none did. */
  readonly otherKey: string | null;
}

const NOT_SIGNED = finding('given-key-unsigned');
const NONE: TrustedKeys = { keys: [], inForce: [], unproved: null, otherKey: null };

/**
 * The id of a key of the ledger's name that signed the newest checkpoint, if no trusted key signed any. It may be an
 * older key, about which the package cannot prove anything, because a key vouches only for its successors. If a trusted
 * key signed an older checkpoint, all keys after it must be announced.
 * @returns hexadecimal, or null if there is no such signature
 */
function otherKeyOf(checkpoints: Checkpoints, trusted: readonly VerifierKey[]): string | null {
  const isTrusted = (line: NoteSignature) =>
    trusted.some((key) => key.name === line.name && equalBytes(key.keyId, line.keyId));
  const notes = [...checkpoints.values()].map(({ note }) => note.signatures);
  if (notes.some((signatures) => signatures.some(isTrusted))) return null;
  const other = notes.at(-1)?.find(({ name }) => trusted.some((key) => key.name === name));
  return other === undefined ? null : toHex(other.keyId);
}

/**
 * Verifies who signed the checkpoints. Trust comes only from outside: a key that only the package
 * contains proves nothing.
 *
 * A pinned key covers its successors through announcements, but not its predecessors. A checkpoint of a predecessor
 * must have its signature if that key is known, and is believed because a trusted checkpoint extends it
 * (`ledger.consistency`).
 * @param files the package, whose work the signatures count towards
 * @param given the keys given by the relying party; those whose algorithm is no longer secure at `at` are ignored
 * @param at time of verification
 */
export async function verifyLedgerKey(
  { findings, work }: PackageFiles,
  checkpoints: Checkpoints,
  chain: EnclosedAnnouncements,
  manifest: Manifest | null,
  given: readonly VerifierKey[],
  at: Date,
): Promise<TrustedKeys> {
  const newest = [...checkpoints.values()].at(-1);
  const origin = manifest?.origin ?? newest?.checkpoint.origin ?? null;
  const own = given.filter((key) => key.name === origin);
  if (given.length === 0) {
    findings.open('ledger.key', finding('ledger-key-not-given'));
    return NONE;
  }
  if (own.length === 0) {
    findings.fail('ledger.key', finding('ledger-key-of-other-ledger', { ledger: origin ?? 'unknown' }));
    return NONE;
  }
  if (!own.some((key) => isSoundKey(key, at))) {
    findings.open('ledger.key', finding('ledger-key-unsound', { end: END_OF_CLASSICAL_SIGNATURES.toISOString() }));
    return NONE;
  }
  const proved = await trustedBy(own, chain, at);
  const { trusted } = proved;
  if (newest === undefined) {
    findings.open('ledger.key', finding('no-checkpoint-signed'));
    return { ...NONE, keys: trusted, inForce: trusted };
  }
  const all: KeyChain = { ...chain, announcements: [...chain.announcements, ...chain.unproved] };
  const isProved = chain.unproved.length === 0;
  const followed = isProved ? proved : await trustedBy(own, all, at);
  const announced = all.announcements.flatMap((one) => one.keys);
  const keys = [...followed.trusted, ...announced.filter((key) => !hasOneOf(followed.trusted, [key]))];
  const olderKey = otherKeyOf(checkpoints, followed.trusted);
  for (const enclosed of checkpoints.values()) {
    const { size } = enclosed.checkpoint;
    const isNewest = enclosed === newest;
    const signers = keys.filter((key) => enclosed.note.signatures.some((line) => isCosignatureBy(line, key)));
    const cost = signers.reduce<number>(
      (sum, key) => sum + 2 * signatureWork(key, enclosed.bytes.length),
      WORK.signature,
    );
    if (!work.take(cost)) break;
    const problem = await problemOf(enclosed, {
      keys,
      trusted: followed.trusted,
      announced,
      period: periodOf(all, size, followed.first),
      isNewest,
    });
    const other = problem === NOT_SIGNED ? olderKey : null;
    const place = { file: enclosed.file };
    if (other !== null) findings.open('ledger.key', finding('older-key-signed', { key: other }), place);
    else if (problem !== null) findings.fail('ledger.key', problem, place);
    else if (isProved || (await isSignedBy(enclosed, proved, chain, isNewest))) findings.pass('ledger.key');
    else findings.open('ledger.key', finding('announcement-not-proved'), place, 'ledger.announcement');
  }
  const inForceOf = (some: readonly VerifierKey[], of: KeyChain) =>
    keysInForce(newest, of.announcements.at(-1)?.keys, some);
  return {
    keys: trusted,
    inForce: await inForceOf(trusted, chain),
    unproved: isProved ? null : { keys: followed.trusted, inForce: await inForceOf(followed.trusted, all) },
    otherKey: olderKey,
  };
}

/** Returns whether the keys that must have signed a checkpoint, according to the proved announcements alone, did so. */
async function isSignedBy(
  enclosed: EnclosedCheckpoint,
  { trusted, first }: TrustedChain,
  chain: KeyChain,
  isNewest: boolean,
): Promise<boolean> {
  const announced = chain.announcements.flatMap((one) => one.keys);
  const period = periodOf(chain, enclosed.checkpoint.size, first);
  const problem = await problemOf(enclosed, { keys: [...trusted, ...announced], trusted, announced, period, isNewest });
  return problem === null;
}

/** Returns the keys in force at the size of a checkpoint, or null if the package does not state them. */
function periodOf(
  { announcements }: KeyChain,
  size: number,
  first: readonly VerifierKey[] | null,
): readonly VerifierKey[] | null {
  const last = announcements.filter(({ batch }) => batch < size).at(-1);
  return last === undefined ? first : last.keys;
}

/**
 * Returns the trusted keys that signed the newest checkpoint. If the ledger changed its keys, only the last ones count,
 * although the first checkpoint over an announcement has the signatures of all.
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
  /** Every key whose signature, if present, must be valid. */
  readonly keys: readonly VerifierKey[];
  readonly trusted: readonly VerifierKey[];
  readonly announced: readonly VerifierKey[];
  /** The keys in force at the size of the checkpoint, or null if they are not known. */
  readonly period: readonly VerifierKey[] | null;
  readonly isNewest: boolean;
}

async function problemOf(
  { note }: EnclosedCheckpoint,
  { keys, trusted, announced, period, isNewest }: Signers,
): Promise<Finding | null> {
  const verdicts = await Promise.all(keys.map((key) => verifyCheckpoint(note, key)));
  if (verdicts.includes('bad-signature')) return finding('key-signature-invalid');
  const signers = keys.filter((_, i) => verdicts[i] === 'signed');
  // Up to the batch of an announcement the old keys sign, and after it the new ones. A retired key must not continue to
  // sign.
  if (period !== null && !hasOneOf(period, signers)) return finding('key-in-force-unsigned');
  if (period !== null) return !isNewest || hasOneOf(trustedOf(period, trusted), signers) ? null : NOT_SIGNED;
  if (hasOneOf(announced, trusted)) {
    // The checkpoint is older than the first announcement, and its keys are only known from a trusted successor. A key
    // must not sign before it is announced.
    return isSignedByOther(note, announced) ? null : finding('key-in-force-unsigned');
  }
  return hasOneOf(trusted, signers) ? null : NOT_SIGNED;
}

/** Returns whether a note has a signature by a key other than those announced later. */
function isSignedByOther({ signatures }: SignedNote, announced: readonly VerifierKey[]): boolean {
  return signatures.some(
    (line) => announced.some(({ name }) => name === line.name) && !announced.some((key) => isCosignatureBy(line, key)),
  );
}

/** Returns the trusted keys among those in force, or all trusted keys if there are none. */
function trustedOf(period: readonly VerifierKey[], trusted: readonly VerifierKey[]): readonly VerifierKey[] {
  const found = trusted.filter((key) => hasOneOf(period, [key]));
  return found.length === 0 ? trusted : found;
}
