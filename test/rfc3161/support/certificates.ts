import { createHash } from 'node:crypto';
import { bits, bool, context, ia5, implicit, integer, octets, oid, sequence, set, time, utf8 } from './der.js';
import { ecdsaSigner, type Signer } from './keys.js';

/** A certificate of a test authority with everything needed to sign with it. */
export interface TestCertificate {
  readonly der: Uint8Array;
  readonly name: Uint8Array;
  readonly issuerName: Uint8Array;
  readonly serial: bigint;
  readonly signer: Signer;
  readonly keyIdentifier: Uint8Array;
}

export interface CertificateOptions {
  readonly name: string;
  /** Attribute O of the name; none if left out. */
  readonly organization?: string;
  /** Attribute emailAddress of the name; none if left out. */
  readonly mailbox?: string;
  /** Left out: self-signed. */
  readonly issuer?: TestCertificate;
  readonly signer?: Signer;
  readonly serial?: bigint;
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly extensions?: readonly Uint8Array[];
  readonly version?: 1 | 3;
}

export const NOT_BEFORE = new Date('2020-01-01T00:00:00Z');
export const NOT_AFTER = new Date('2040-01-01T00:00:00Z');

export function distinguishedName(name: string, organization?: string, mailbox?: string): Uint8Array {
  const first = organization === undefined ? [] : [set(sequence(oid('2.5.4.10'), utf8(organization)))];
  const last = mailbox === undefined ? [] : [set(sequence(oid('1.2.840.113549.1.9.1'), ia5(mailbox)))];
  return sequence(...first, set(sequence(oid('2.5.4.3'), utf8(name))), ...last);
}

export function makeCertificate(options: CertificateOptions): TestCertificate {
  const { issuer, signer = ecdsaSigner('P-256', 'sha256'), version = 3 } = options;
  const name = distinguishedName(options.name, options.organization, options.mailbox);
  const issuerName = issuer?.name ?? name;
  const issuerSigner = issuer?.signer ?? signer;
  const validity = sequence(time(options.notBefore ?? NOT_BEFORE), time(options.notAfter ?? NOT_AFTER));
  const serial = options.serial ?? serialOf(name, issuerName, validity, signer.spki, ...(options.extensions ?? []));
  const tbs = sequence(
    ...(version === 3 ? [context(0, integer(2))] : []),
    integer(serial),
    issuerSigner.algorithm,
    issuerName,
    validity,
    name,
    signer.spki,
    ...(version === 3 && options.extensions ? [context(3, sequence(...options.extensions))] : []),
  );
  return {
    der: sequence(tbs, issuerSigner.algorithm, bits(issuerSigner.sign(tbs))),
    name,
    issuerName,
    serial,
    signer,
    keyIdentifier: keyIdentifierOf(signer),
  };
}

/** A serial number from the content: a counter would depend on the tests that ran before. */
function serialOf(...parts: readonly Uint8Array[]): bigint {
  const digest = createHash('sha256');
  for (const part of parts) digest.update(part);
  // At least 2^56, and positive.
  return (1n << 56n) | BigInt(`0x${digest.digest('hex').slice(0, 14)}`);
}

/** SHA-1 of the key's bits (RFC 5280 §4.2.1.2). */
export function keyIdentifierOf(signer: Signer): Uint8Array {
  return new Uint8Array(createHash('sha1').update(keyBits(signer.spki)).digest());
}

/** The octets inside the BIT STRING that ends a SubjectPublicKeyInfo. */
export function keyBits(spki: Uint8Array): Uint8Array {
  const lengthOctets = (at: number) => ((spki[at] ?? 0) < 0x80 ? 1 : 1 + ((spki[at] ?? 0) & 0x7f));
  const start = 1 + lengthOctets(1);
  const algorithmLength = spki[start + 1] ?? 0;
  const bitString = start + 2 + algorithmLength;
  return spki.subarray(bitString + 1 + lengthOctets(bitString + 1) + 1);
}

export function extension(id: string, critical: boolean, value: Uint8Array): Uint8Array {
  return sequence(oid(id), ...(critical ? [bool(true)] : []), octets(value));
}

export const basicConstraints = (ca: boolean, pathLength?: number) =>
  extension(
    '2.5.29.19',
    true,
    sequence(...(ca ? [bool(true)] : []), ...(pathLength === undefined ? [] : [integer(pathLength)])),
  );

/** @param names numbers of the bits that are on */
export function keyUsage(...names: readonly number[]): Uint8Array {
  const octet = names.reduce((value, bit) => value | (0x80 >> bit), 0);
  return extension('2.5.29.15', true, bits(new Uint8Array([octet]), 7 - Math.max(...names)));
}

export const TIME_STAMPING = '1.3.6.1.5.5.7.3.8';
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
export const OCSP_SIGNING = '1.3.6.1.5.5.7.3.9';

export const extendedKeyUsage = (critical: boolean, ...purposes: readonly string[]) =>
  extension('2.5.29.37', critical, sequence(...purposes.map(oid)));

export const subjectKeyIdentifier = (identifier: Uint8Array) => extension('2.5.29.14', false, octets(identifier));

export const crlDistributionPoint = (url: string) =>
  extension('2.5.29.31', false, sequence(sequence(context(0, context(0, implicit(6, new TextEncoder().encode(url)))))));

export const ocspAccess = (url: string) =>
  extension(
    '1.3.6.1.5.5.7.1.1',
    false,
    sequence(sequence(oid('1.3.6.1.5.5.7.48.1'), implicit(6, new TextEncoder().encode(url)))),
  );

export const policies = (...ids: readonly string[]) =>
  extension('2.5.29.32', false, sequence(...ids.map((id) => sequence(oid(id)))));

/** @param pairs each with the issuer's policy and the subject's */
export const policyMappings = (...pairs: readonly (readonly [string, string])[]) =>
  extension('2.5.29.33', true, sequence(...pairs.map(([from, to]) => sequence(oid(from), oid(to)))));

export const policyConstraints = (critical: boolean, explicit?: number, mapping?: number) =>
  extension(
    '2.5.29.36',
    critical,
    sequence(
      ...(explicit === undefined ? [] : [implicit(0, new Uint8Array([explicit]))]),
      ...(mapping === undefined ? [] : [implicit(1, new Uint8Array([mapping]))]),
    ),
  );

export const inhibitAnyPolicy = (count: number) => extension('2.5.29.54', true, integer(count));

/** @param tag of the subtrees: 0 permits, 1 excludes. @param bases GeneralNames */
export const nameConstraints = (tag: 0 | 1, ...bases: readonly Uint8Array[]) =>
  extension('2.5.29.30', true, sequence(context(tag, ...bases.map((base) => sequence(base)))));

export const CA_EXTENSIONS = [basicConstraints(true), keyUsage(5, 6)];
export const TSA_EXTENSIONS = [extendedKeyUsage(true, TIME_STAMPING), keyUsage(0)];
