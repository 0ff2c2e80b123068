export type JudgeName = 'openssl' | 'Bouncy Castle' | '.NET';

/** A token that others judge otherwise than we do, who they are, and why. */
interface Disagreement {
  readonly judges: readonly JudgeName[];
  readonly reason: string;
}

/** By the name of the case. Whatever is not here, all judges judge alike. */
export const DISAGREEMENTS: Readonly<Record<string, Disagreement>> = {
  // They refuse what we accept.
  'RSA-PSS': { judges: ['openssl'], reason: 'openssl ts verifies with its PKCS#7 code, which knows no RSA-PSS' },
  Ed25519: {
    judges: ['openssl', '.NET'],
    reason: 'neither the PKCS#7 code of openssl nor .NET knows Ed25519 in CMS (RFC 8419)',
  },
  'a signer named by key identifier': {
    judges: ['openssl'],
    reason: 'PKCS#7 names signers by issuer and serial only; CMS (RFC 5652 §5.3) also by key identifier',
  },
  'unsorted attributes, signed in order': {
    judges: ['openssl'],
    reason: 'openssl verifies the attributes as they stand and never sorts them as DER asks for',
  },
  'unsorted attributes, signed as they stand': {
    judges: ['Bouncy Castle'],
    reason: 'Bouncy Castle sorts the attributes before it verifies; real authorities exist that sign them unsorted',
  },
  // They accept what we do not.
  'an imprint by SHA-1': {
    judges: ['openssl', 'Bouncy Castle', '.NET'],
    reason: 'they compare digests and do not ask whether the hash still resists collisions; to us it is indeterminate',
  },
  'an imprint by MD5': {
    judges: ['openssl', 'Bouncy Castle', '.NET'],
    reason: 'as with SHA-1',
  },
  'version 2': { judges: ['Bouncy Castle', '.NET'], reason: 'they do not look at the version (RFC 3161 §2.4.2: 1)' },
  'a tsa name that is not the certificate’s': {
    judges: ['Bouncy Castle', '.NET'],
    reason: 'they do not compare the name with the certificate (RFC 3161 §2.4.2)',
  },
  'a critical extension of the TSTInfo': {
    judges: ['openssl', 'Bouncy Castle', '.NET'],
    reason:
      'they leave extensions of the TSTInfo to the caller; an unknown critical one may change what the token means',
  },
  'a further purpose': {
    judges: ['.NET'],
    reason: '.NET asks that time stamping is among the purposes, RFC 3161 §2.3 that it is the only one',
  },
  'a CA that stamps': {
    judges: ['Bouncy Castle', '.NET'],
    reason:
      'they do not ask whether the certificate is that of a CA; a key that stamps is for that alone (RFC 3161 §2.3)',
  },
  'a source of revocations, and no answer': {
    judges: ['openssl', 'Bouncy Castle', '.NET'],
    reason: 'none of them looks at revocation unless told to; to us a source without an answer is indeterminate',
  },
  'bytes behind the response': {
    judges: ['openssl', 'Bouncy Castle', '.NET'],
    reason: 'their decoders stop at the end of the response and leave the rest to the caller',
  },
};
