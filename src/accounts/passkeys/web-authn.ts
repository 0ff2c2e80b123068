import * as z from 'zod';
import type { PasskeyAssertion, PasskeyRegistration } from '../../../schemas/api/passkeys.js';
import type { RelyingParty } from './relying-party.js';

/** Signatures that are accepted (COSE): ES256, Ed25519, and RS256 for older Windows Hello. */
export const ALGORITHMS = [-7, -8, -257] as const;

/** Loaded at the first use: most processes never need it. */
const library = () => import('@simplewebauthn/server');

const ClientData = z.looseObject({ challenge: z.string(), crossOrigin: z.boolean().optional() });

/**
 * Reads the challenge that an authenticator signed.
 * @param clientDataJson base64url
 * @returns null if it is not what a browser writes, or comes from a frame in a page of another origin
 */
export function challengeIn(clientDataJson: string): string | null {
  try {
    const parsed = ClientData.safeParse(JSON.parse(Buffer.from(clientDataJson, 'base64url').toString('utf8')));
    return parsed.success && parsed.data.crossOrigin !== true ? parsed.data.challenge : null;
  } catch {
    return null;
  }
}

/** What a new passkey states. */
export interface VerifiedRegistration {
  readonly credentialId: string;
  /** COSE_Key. */
  readonly publicKey: Uint8Array;
  readonly signCount: number;
  readonly wasVerified: boolean;
}

/**
 * Verifies a new passkey (WebAuthn §7.1). Its attestation is not asked for, and proves nothing here.
 * @returns null if origin, relying party, challenge or another part is wrong
 */
export async function verifyRegistration(
  { id, origin }: RelyingParty,
  { response, ...credential }: PasskeyRegistration,
  expectedChallenge: string,
): Promise<VerifiedRegistration | null> {
  const { verifyRegistrationResponse } = await library();
  const { clientDataJSON, attestationObject } = response;
  const verified = await verifyRegistrationResponse({
    response: { ...credential, response: { clientDataJSON, attestationObject }, clientExtensionResults: {} },
    expectedChallenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: false,
    supportedAlgorithmIDs: [...ALGORITHMS],
    // The library throws an `Error` for whatever is wrong with the input.
  }).catch(() => null);
  if (verified?.verified !== true) return null;
  const { credential: made, userVerified, fmt } = verified.registrationInfo;
  // With `none`, browsers remove what proves the maker, but may leave a signature of the new key itself (`packed`).
  if (made.id !== credential.id || (fmt !== 'none' && fmt !== 'packed')) return null;
  return { credentialId: made.id, publicKey: made.publicKey, signCount: made.counter, wasVerified: userVerified };
}

/** What an authenticator states when a passkey is used. */
export interface VerifiedAssertion {
  readonly signCount: number;
  /** Whether the authenticator verified the person by PIN, fingerprint or face. */
  readonly isVerified: boolean;
}

/**
 * Verifies the use of a passkey (WebAuthn §7.2), without its counter.
 * @param publicKey COSE_Key
 * @returns null if origin, relying party, challenge, signature or another part is wrong
 */
export async function verifyAssertion(
  { id, origin }: RelyingParty,
  { response, ...credential }: PasskeyAssertion,
  expectedChallenge: string,
  publicKey: Uint8Array,
): Promise<VerifiedAssertion | null> {
  const { verifyAuthenticationResponse } = await library();
  const { clientDataJSON, authenticatorData, signature } = response;
  const verified = await verifyAuthenticationResponse({
    response: {
      ...credential,
      response: { clientDataJSON, authenticatorData, signature },
      clientExtensionResults: {},
    },
    expectedChallenge,
    expectedOrigin: origin,
    expectedRPID: id,
    requireUserVerification: false,
    // The counter is compared by the caller, who logs one that goes back.
    credential: { id: credential.id, publicKey: Uint8Array.from(publicKey), counter: 0 },
  }).catch(() => null);
  if (verified?.verified !== true) return null;
  const { newCounter, userVerified } = verified.authenticationInfo;
  return { signCount: newCounter, isVerified: userVerified };
}

/**
 * Returns whether a counter shows that a passkey was copied (WebAuthn §6.1.1): it has to grow with every use. Passkeys
 * that are synchronised count nothing, and always state 0.
 */
export function wentBack(stored: number, given: number): boolean {
  return (stored > 0 || given > 0) && given <= stored;
}
