import type { SignatureOutcome } from '../../crypto/algorithms.js';
import { verifySignature } from '../../crypto/signature-verification.js';
import { type AlgorithmIdentifier, signatureSchemeOf } from '../algorithms.js';
import { attempt, MalformedInput } from '../errors.js';
import { type Strength, signatureStrengths } from '../strength.js';
import { type SpendWork, TOKEN_WORK } from '../work.js';
import { allowsScheme, type SubjectPublicKey } from './public-key.js';

/** Bytes with an X.509 signature: a certificate, a CRL or a basic OCSP response. */
export interface SignedBytes {
  readonly tbs: Uint8Array;
  readonly signatureAlgorithm: AlgorithmIdentifier;
  readonly signature: Uint8Array;
}

/**
 * @returns the outcome, and the strengths that the signature depends on (empty unless it is valid)
 */
export async function verifySignedBytes(
  signed: SignedBytes,
  signer: SubjectPublicKey,
  spend: SpendWork,
): Promise<{ outcome: SignatureOutcome; strengths: Strength[] }> {
  spend(TOKEN_WORK.signature + signed.tbs.length);
  const scheme = attempt(() => signatureSchemeOf(signed.signatureAlgorithm, undefined, 'signatureAlgorithm'));
  if (scheme instanceof MalformedInput) return { outcome: 'invalid', strengths: [] };
  if (scheme === undefined || signer.key === undefined) return { outcome: 'unsupported', strengths: [] };
  if (!allowsScheme(signer, scheme)) return { outcome: 'invalid', strengths: [] };
  const outcome = await verifySignature(scheme, signer.key, signed.tbs, signed.signature);
  return { outcome, strengths: outcome === 'valid' ? signatureStrengths(scheme, signer.key) : [] };
}
