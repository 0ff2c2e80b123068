import { verifyEd25519 } from '../../../schemas/crypto/ed25519.js';
import { decodeUtf8, equalBytes, fromBase64url, toBase64url, utf8 } from '../../../schemas/crypto/encoding.js';
import { parseManifestKeyText } from '../../../schemas/evidence/checkpoint.js';
import { ManifestSignatureHeader } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { isSameKey, parseNote, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { verifyNote } from '../../../schemas/evidence/verify-note.js';
import { END_OF_CLASSICAL_SIGNATURES } from '../../../schemas/rfc3161/strength.js';
import type { PackageFiles } from '../files/package-files.js';
import { parseShape } from '../files/parse.js';
import { finding } from '../findings/finding.js';
import type { TrustedKeys } from '../ledger/ledger-key.js';
import type { ReadManifest } from './manifest.js';

/**
 * Verifies the detached JWS over the manifest (RFC 7515 appendix F, RFC 8037), and the certificate
 * of its key.
 * @param trusted the keys of the ledger that the relying party trusts, directly or through announcements, and which
 * of these keys are in force
 * @param time the time of verification
 */
export async function verifyManifestSignature(
  files: PackageFiles,
  { bytes, manifest }: ReadManifest,
  trusted: TrustedKeys,
  time: Date,
): Promise<void> {
  const { findings } = files;
  const at = { file: PACKAGE_FILES.manifestSignature };
  const text = decodeUtf8((await files.bytes(PACKAGE_FILES.manifestSignature)) ?? new Uint8Array());
  const signature = text === null ? null : parseSignature(text);
  if (signature === null) {
    findings.fail('manifest.signature', finding('manifest-signature-missing'), at);
    const message = finding('nothing-to-certify');
    findings.open('manifest.certificate', message, at, 'manifest.signature');
    return;
  }
  const { publicKey, certificate } = signature;
  if (publicKey === null || !(await isSignatureOver(signature, bytes))) {
    findings.fail('manifest.signature', finding('manifest-changed'), at);
  } else if (time.getTime() >= END_OF_CLASSICAL_SIGNATURES.getTime()) {
    const end = END_OF_CLASSICAL_SIGNATURES.toISOString();
    findings.open('manifest.signature', finding('manifest-signature-unsound', { end }), at);
  } else {
    findings.pass('manifest.signature');
  }
  await verifyCertificate(files, certificate, publicKey, manifest?.origin ?? null, trusted);
}

interface ParsedSignature {
  readonly encodedHeader: string;
  readonly signature: Uint8Array;
  /** Null if the key is malformed. */
  readonly publicKey: Uint8Array | null;
  readonly certificate: string;
}

/** @returns null if the text is not a detached JWS of a manifest */
function parseSignature(text: string): ParsedSignature | null {
  const [, encodedHeader, encodedSignature] = /^([A-Za-z0-9_-]+)\.\.([A-Za-z0-9_-]+)\n?$/.exec(text) ?? [];
  const headerBytes = fromBase64url(encodedHeader ?? '');
  const signature = fromBase64url(encodedSignature ?? '');
  const header = headerBytes === null ? null : parseShape(ManifestSignatureHeader, headerBytes);
  if (encodedHeader === undefined || signature === null || header === null || !header.ok) return null;
  const { jwk, certificate } = header.value;
  return { encodedHeader, signature, publicKey: fromBase64url(jwk.x), certificate };
}

async function isSignatureOver(
  { encodedHeader, signature, publicKey }: ParsedSignature,
  bytes: Uint8Array,
): Promise<boolean> {
  return (
    publicKey !== null && (await verifyEd25519(publicKey, utf8(`${encodedHeader}.${toBase64url(bytes)}`), signature))
  );
}

/**
 * Whether the manifest is signed by a key that the ledger certifies.
 * @param keys keys of the ledger; if null, the signature on the certificate is not checked
 */
export async function isCertifiedManifest(
  bytes: Uint8Array,
  signatureText: string,
  origin: string,
  keys: readonly VerifierKey[] | null,
): Promise<boolean> {
  const signature = parseSignature(signatureText);
  const note = signature === null ? null : parseNote(signature.certificate);
  const certified = note === null ? null : parseManifestKeyText(note.text);
  if (signature === null || note === null || certified === null || signature.publicKey === null) return false;
  if (certified.origin !== origin || !equalBytes(certified.publicKey, signature.publicKey)) return false;
  if (!(await isSignatureOver(signature, bytes))) return false;
  if (keys === null) return true;
  const verdicts = await Promise.all(keys.filter(({ name }) => name === origin).map((key) => verifyNote(note, key)));
  return verdicts.includes('signed') && !verdicts.includes('bad-signature');
}

async function verifyCertificate(
  files: PackageFiles,
  certificate: string,
  publicKey: Uint8Array | null,
  origin: string | null,
  trusted: TrustedKeys,
): Promise<void> {
  const { findings } = files;
  const at = { file: PACKAGE_FILES.manifestSignature };
  const note = parseNote(certificate);
  const certified = note === null ? null : parseManifestKeyText(note.text);
  if (note === null || certified === null) {
    findings.fail('manifest.certificate', finding('certificate-malformed'), at);
    return;
  }
  if (publicKey === null || !equalBytes(certified.publicKey, publicKey)) {
    findings.fail('manifest.certificate', finding('certificate-of-other-key'), at);
    return;
  }
  if (origin !== null && certified.origin !== origin) {
    findings.fail('manifest.certificate', finding('certificate-of-other-ledger'), at);
    return;
  }
  const { keys, inForce } = trusted.unproved ?? trusted;
  const verdicts = await Promise.all(keys.map((key) => verifyNote(note, key)));
  const signers = keys.filter((_, i) => verdicts[i] === 'signed');
  const signedBy = (some: readonly VerifierKey[]) =>
    signers.some((signer) => some.some((key) => isSameKey(key, signer)));
  if (verdicts.includes('bad-signature')) {
    findings.fail('manifest.certificate', finding('certificate-signature-invalid'), at);
  } else if (signedBy(inForce)) {
    if (signedBy(trusted.inForce)) findings.pass('manifest.certificate');
    else findings.open('manifest.certificate', finding('announcement-not-proved'), at, 'ledger.announcement');
  } else if (signers.length > 0) {
    findings.fail('manifest.certificate', finding('certificate-key-not-in-force'), at);
  } else if (trusted.keys.length === 0) {
    findings.open('manifest.certificate', finding('certificate-not-checked'), at, 'ledger.key');
  } else if (trusted.otherKey !== null) {
    const message = finding('certificate-by-other-key');
    findings.open('manifest.certificate', message, at, 'ledger.key');
  } else {
    const because = findings.outcomeOf('ledger.key') === 'fail' ? 'ledger.key' : null;
    findings.fail('manifest.certificate', finding('certificate-not-by-given-key'), at, because);
  }
}
