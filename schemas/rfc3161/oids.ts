import type { HashAlgorithm, NamedCurve } from '../crypto/algorithms.js';

/** Object identifiers of RFC 3161, 5035, 5652, 5280 and 6960 that are looked for by name. */
export const OID = {
  signedData: '1.2.840.113549.1.7.2',
  tstInfo: '1.2.840.113549.1.9.16.1.4',
  contentTypeAttribute: '1.2.840.113549.1.9.3',
  messageDigestAttribute: '1.2.840.113549.1.9.4',
  signingCertificateAttribute: '1.2.840.113549.1.9.16.2.12',
  signingCertificateV2Attribute: '1.2.840.113549.1.9.16.2.47',
  ocspResponseRevocationInfo: '1.3.6.1.5.5.7.16.2',
  rsaEncryption: '1.2.840.113549.1.1.1',
  rsaPss: '1.2.840.113549.1.1.10',
  mgf1: '1.2.840.113549.1.1.8',
  ecPublicKey: '1.2.840.10045.2.1',
  ed25519: '1.3.101.112',
  ed448: '1.3.101.113',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  issuerAltName: '2.5.29.18',
  basicConstraints: '2.5.29.19',
  crlNumber: '2.5.29.20',
  crlReason: '2.5.29.21',
  invalidityDate: '2.5.29.24',
  deltaCrlIndicator: '2.5.29.27',
  issuingDistributionPoint: '2.5.29.28',
  nameConstraints: '2.5.29.30',
  crlDistributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  anyPolicy: '2.5.29.32.0',
  qcStatements: '1.3.6.1.5.5.7.1.3',
  policyMappings: '2.5.29.33',
  authorityKeyIdentifier: '2.5.29.35',
  policyConstraints: '2.5.29.36',
  extendedKeyUsage: '2.5.29.37',
  inhibitAnyPolicy: '2.5.29.54',
  expiredCertificatesOnCrl: '2.5.29.60',
  authorityInformationAccess: '1.3.6.1.5.5.7.1.1',
  accessOcsp: '1.3.6.1.5.5.7.48.1',
  accessCaIssuers: '1.3.6.1.5.5.7.48.2',
  ocspBasicResponse: '1.3.6.1.5.5.7.48.1.1',
  ocspNonce: '1.3.6.1.5.5.7.48.1.2',
  ocspNoCheck: '1.3.6.1.5.5.7.48.1.5',
  ocspArchiveCutoff: '1.3.6.1.5.5.7.48.1.6',
  ekuTimeStamping: '1.3.6.1.5.5.7.3.8',
  ekuOcspSigning: '1.3.6.1.5.5.7.3.9',
  ekuAny: '2.5.29.37.0',
} as const;

/** Hash algorithms (RFC 3279, RFC 5754, RFC 8702). */
export const HASH_BY_OID: ReadonlyMap<string, HashAlgorithm> = new Map([
  ['1.2.840.113549.2.5', 'md5'],
  ['1.3.14.3.2.26', 'sha1'],
  ['2.16.840.1.101.3.4.2.4', 'sha224'],
  ['2.16.840.1.101.3.4.2.1', 'sha256'],
  ['2.16.840.1.101.3.4.2.2', 'sha384'],
  ['2.16.840.1.101.3.4.2.3', 'sha512'],
  ['2.16.840.1.101.3.4.2.6', 'sha512-256'],
  ['2.16.840.1.101.3.4.2.7', 'sha3-224'],
  ['2.16.840.1.101.3.4.2.8', 'sha3-256'],
  ['2.16.840.1.101.3.4.2.9', 'sha3-384'],
  ['2.16.840.1.101.3.4.2.10', 'sha3-512'],
]);

/**
 * RSASSA-PKCS1-v1_5 with the hash named in the identifier (RFC 8017 A.2.4, NIST CSOR for SHA-3).
 */
export const RSA_HASH_BY_OID: ReadonlyMap<string, HashAlgorithm> = new Map([
  ['1.2.840.113549.1.1.4', 'md5'],
  ['1.2.840.113549.1.1.5', 'sha1'],
  ['1.2.840.113549.1.1.14', 'sha224'],
  ['1.2.840.113549.1.1.11', 'sha256'],
  ['1.2.840.113549.1.1.12', 'sha384'],
  ['1.2.840.113549.1.1.13', 'sha512'],
  ['1.2.840.113549.1.1.16', 'sha512-256'],
  ['2.16.840.1.101.3.4.3.13', 'sha3-224'],
  ['2.16.840.1.101.3.4.3.14', 'sha3-256'],
  ['2.16.840.1.101.3.4.3.15', 'sha3-384'],
  ['2.16.840.1.101.3.4.3.16', 'sha3-512'],
]);

/** ECDSA with the hash named in the identifier (RFC 5758, RFC 8702). */
export const ECDSA_HASH_BY_OID: ReadonlyMap<string, HashAlgorithm> = new Map([
  ['1.2.840.10045.4.1', 'sha1'],
  ['1.2.840.10045.4.3.1', 'sha224'],
  ['1.2.840.10045.4.3.2', 'sha256'],
  ['1.2.840.10045.4.3.3', 'sha384'],
  ['1.2.840.10045.4.3.4', 'sha512'],
  ['2.16.840.1.101.3.4.3.9', 'sha3-224'],
  ['2.16.840.1.101.3.4.3.10', 'sha3-256'],
  ['2.16.840.1.101.3.4.3.11', 'sha3-384'],
  ['2.16.840.1.101.3.4.3.12', 'sha3-512'],
]);

/** Named curves (RFC 5480, RFC 5639) with the size of their order in bits. */
export const CURVE_BY_OID: ReadonlyMap<string, { readonly curve: NamedCurve; readonly bits: number }> = new Map([
  ['1.3.132.0.33', { curve: 'P-224', bits: 224 }],
  ['1.2.840.10045.3.1.7', { curve: 'P-256', bits: 256 }],
  ['1.3.132.0.34', { curve: 'P-384', bits: 384 }],
  ['1.3.132.0.35', { curve: 'P-521', bits: 521 }],
  ['1.3.36.3.3.2.8.1.1.7', { curve: 'brainpoolP256r1', bits: 256 }],
  ['1.3.36.3.3.2.8.1.1.11', { curve: 'brainpoolP384r1', bits: 384 }],
  ['1.3.36.3.3.2.8.1.1.13', { curve: 'brainpoolP512r1', bits: 512 }],
]);
