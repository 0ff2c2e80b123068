import * as asn1js from 'asn1js';
import * as pkijs from 'pkijs';
import type { HashAlgorithm, STAMP_HASHES } from '../../schemas/crypto/algorithms.js';
import { hashBytes } from '../../schemas/crypto/signature-verification.js';
import { HASH_BY_OID } from '../../schemas/rfc3161/oids.js';
import type { Certificate } from '../../schemas/rfc3161/x509/certificate.js';

/** Hash algorithms for imprints. */
export type StampHash = (typeof STAMP_HASHES)[number];

/**
 * Encodes a TimeStampReq (RFC 3161 §2.4.1) that requests the authority's certificates.
 * @param nonce unsigned, big-endian
 * @param policy dotted OID; the default is the authority's choice
 * @returns DER
 */
export function timestampRequest(data: Uint8Array, hash: StampHash, nonce: Uint8Array, policy?: string): Uint8Array {
  const request = new pkijs.TimeStampReq({
    version: 1,
    messageImprint: new pkijs.MessageImprint({
      hashAlgorithm: algorithm(hash),
      hashedMessage: new asn1js.OctetString({ valueHex: hashBytes(hash, data) }),
    }),
    nonce: positiveInteger(nonce),
    certReq: true,
    ...(policy === undefined ? {} : { reqPolicy: policy }),
  });
  return new Uint8Array(request.toSchema().toBER());
}

/**
 * Encodes an OCSPRequest for one certificate (RFC 6960 §4.1). It has no nonce, so responders can use stored responses.
 * The issuer is identified by SHA-1, which every responder supports; no security depends on it.
 * @returns DER
 */
export function ocspRequest(certificate: Certificate, issuer: Certificate): Uint8Array {
  const certId = new asn1js.Sequence({
    value: [
      algorithm('sha1').toSchema(),
      new asn1js.OctetString({ valueHex: hashBytes('sha1', issuer.subject.raw) }),
      new asn1js.OctetString({ valueHex: hashBytes('sha1', issuer.publicKey.bits) }),
      new asn1js.Integer({ valueHex: certificate.serial }),
    ],
  });
  const list = new asn1js.Sequence({ value: [new asn1js.Sequence({ value: [certId] })] });
  return new Uint8Array(new asn1js.Sequence({ value: [new asn1js.Sequence({ value: [list] })] }).toBER());
}

function algorithm(hash: HashAlgorithm): pkijs.AlgorithmIdentifier {
  const algorithmId = [...HASH_BY_OID].find(([, name]) => name === hash)?.[0];
  if (algorithmId === undefined) throw new TypeError(`no identifier for ${hash}`);
  return new pkijs.AlgorithmIdentifier({ algorithmId, algorithmParams: new asn1js.Null() });
}

function positiveInteger(octets: Uint8Array): asn1js.Integer {
  const start = octets.findIndex((octet) => octet !== 0);
  const magnitude = start === -1 ? [0] : [...octets.subarray(start)];
  const sign = (magnitude[0] ?? 0) >= 0x80 ? [0] : [];
  return new asn1js.Integer({ valueHex: new Uint8Array([...sign, ...magnitude]) });
}
