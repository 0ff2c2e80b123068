import { createHash } from 'node:crypto';
import type { TestCertificate } from './certificates.js';
import {
  context,
  generalizedTime,
  implicit,
  indefinite,
  integer,
  octets,
  oid,
  sequence,
  set,
  sortedSet,
  timeText,
  tlv,
} from './der.js';
import { HASH_OID, hashIdentifier, type TestHash } from './keys.js';

export const GEN_TIME = new Date('2026-03-04T05:06:07Z');
export const POLICY = '1.3.6.1.4.1.4146.2.2';
export const TST_INFO = '1.2.840.113549.1.9.16.1.4';
const SIGNED_DATA = '1.2.840.113549.1.7.2';

/** How a token is to differ from a good one. */
export interface TokenOptions {
  readonly data?: Uint8Array;
  readonly imprintHash?: TestHash;
  readonly version?: number;
  /** The text in the token. */
  readonly genTime?: string;
  readonly accuracy?: Uint8Array;
  readonly nonce?: bigint;
  /** A GeneralName. */
  readonly tsaName?: Uint8Array;
  readonly tstExtensions?: readonly Uint8Array[];
  readonly contentType?: string;
  readonly attributeContentType?: string;
  readonly certificates?: readonly Uint8Array[];
  readonly crls?: readonly Uint8Array[];
  readonly ess?: 'v1' | 'v2' | 'v2-sha512' | 'both' | 'none';
  /** The certificate that the ESS attribute names, if not the signer's. */
  readonly essCertificate?: TestCertificate;
  readonly essIssuerSerial?: boolean;
  readonly sid?: 'issuer-and-serial' | 'key-identifier';
  /** Version of the SignerInfo, if not the one that `sid` requires. */
  readonly signerVersion?: number;
  readonly signedAttributes?: 'sorted' | 'unsorted' | 'unsorted-but-signed-sorted' | 'none';
  readonly extraAttributes?: readonly Uint8Array[];
  readonly digestHash?: TestHash;
  readonly signatureAlgorithm?: Uint8Array;
  readonly signers?: number;
  readonly wrongMessageDigest?: boolean;
  readonly unsignedAttributes?: Uint8Array;
  /** Indefinite lengths around everything, and the content in two segments. */
  readonly ber?: boolean;
}

export const DATA = new TextEncoder().encode('the checkpoint’s bytes\n');

/** DER of a bare token by `signer`. */
export function makeToken(signer: TestCertificate, options: TokenOptions = {}): Uint8Array {
  const content = makeTstInfo(options);
  const signerInfo = makeSignerInfo(signer, content, options);
  const { certificates = [signer.der], crls = [], signers = 1 } = options;
  const wrap = options.ber ? indefinite : tlv;
  const half = Math.floor(content.length / 2);
  const eContent = options.ber
    ? indefinite(0x24, octets(content.subarray(0, half)), octets(content.subarray(half)))
    : octets(content);
  const signedData = wrap(
    0x30,
    integer(3),
    set(hashIdentifier(options.digestHash ?? signer.signer.hash)),
    wrap(0x30, oid(options.contentType ?? TST_INFO), wrap(0xa0, eContent)),
    ...(certificates.length > 0 ? [wrap(0xa0, ...certificates)] : []),
    ...(crls.length > 0 ? [context(1, ...crls)] : []),
    wrap(0x31, ...Array.from({ length: signers }, () => signerInfo)),
  );
  return wrap(0x30, oid(SIGNED_DATA), wrap(0xa0, signedData));
}

/** DER of a TimeStampResp around a token. */
export function makeResponse(token: Uint8Array | undefined, status = 0): Uint8Array {
  return sequence(sequence(integer(status)), ...(token === undefined ? [] : [token]));
}

export function makeTstInfo(options: TokenOptions): Uint8Array {
  const { data = DATA, imprintHash = 'sha256', nonce, tsaName, tstExtensions } = options;
  return sequence(
    integer(options.version ?? 1),
    oid(POLICY),
    sequence(hashIdentifier(imprintHash), octets(digest(imprintHash, data))),
    integer(77),
    generalizedTime(options.genTime ?? timeText(GEN_TIME)),
    ...(options.accuracy ? [options.accuracy] : []),
    ...(nonce === undefined ? [] : [integer(nonce)]),
    ...(tsaName === undefined ? [] : [context(0, tsaName)]),
    ...(tstExtensions === undefined ? [] : [context(1, ...tstExtensions)]),
  );
}

function makeSignerInfo(certificate: TestCertificate, content: Uint8Array, options: TokenOptions): Uint8Array {
  const { signer } = certificate;
  const { sid = 'issuer-and-serial', signedAttributes = 'sorted', digestHash = signer.hash } = options;
  const attributes = makeAttributes(certificate, content, digestHash, options);
  const sorted = [...attributes].sort(Buffer.compare);
  const unsorted = [...sorted].reverse();
  const carried = signedAttributes === 'sorted' ? sorted : unsorted;
  const signed = signedAttributes === 'unsorted' ? unsorted : sorted;
  const signature = signer.sign(signedAttributes === 'none' ? content : set(...signed));
  return (options.ber ? indefinite : tlv)(
    0x30,
    integer(options.signerVersion ?? (sid === 'issuer-and-serial' ? 1 : 3)),
    sid === 'issuer-and-serial'
      ? sequence(certificate.issuerName, integer(certificate.serial))
      : implicit(0, certificate.keyIdentifier),
    hashIdentifier(digestHash),
    ...(signedAttributes === 'none' ? [] : [(options.ber ? indefinite : tlv)(0xa0, ...carried)]),
    options.signatureAlgorithm ?? signer.algorithm,
    octets(signature),
    ...(options.unsignedAttributes ? [context(1, options.unsignedAttributes)] : []),
  );
}

export function attribute(type: string, ...values: readonly Uint8Array[]): Uint8Array {
  return sequence(oid(type), sortedSet(...values));
}

function makeAttributes(
  certificate: TestCertificate,
  content: Uint8Array,
  digestHash: TestHash,
  options: TokenOptions,
): Uint8Array[] {
  const { ess = 'v2', essCertificate = certificate, wrongMessageDigest = false } = options;
  const issuerSerial =
    options.essIssuerSerial === false
      ? []
      : [sequence(sequence(context(4, certificate.issuerName)), integer(certificate.serial))];
  const named = (hash: TestHash, ...algorithm: Uint8Array[]) =>
    sequence(sequence(sequence(...algorithm, octets(digest(hash, essCertificate.der)), ...issuerSerial)));
  const v1 = attribute('1.2.840.113549.1.9.16.2.12', named('sha1'));
  const v2 = attribute('1.2.840.113549.1.9.16.2.47', named('sha256'));
  const v2Sha512 = attribute('1.2.840.113549.1.9.16.2.47', named('sha512', sequence(oid(HASH_OID.sha512))));
  const essAttributes = { v1: [v1], v2: [v2], 'v2-sha512': [v2Sha512], both: [v1, v2], none: [] }[ess];
  return [
    attribute('1.2.840.113549.1.9.3', oid(options.attributeContentType ?? TST_INFO)),
    attribute('1.2.840.113549.1.9.4', octets(digest(digestHash, wrongMessageDigest ? DATA : content))),
    ...essAttributes,
    ...(options.extraAttributes ?? []),
  ];
}

export function digest(hash: TestHash, data: Uint8Array): Uint8Array {
  return new Uint8Array(createHash(hash).update(data).digest());
}
