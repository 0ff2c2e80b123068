import type { PublicKey, SignatureScheme } from '../../crypto/algorithms.js';
import { type AlgorithmIdentifier, parseAlgorithmIdentifier, signatureSchemeOf } from '../algorithms.js';
import { Fields, hasTag, TAG } from '../asn1/fields.js';
import { type Asn1Node, readSingle } from '../asn1/reader.js';
import { integerOctets, oidValue, wholeOctets } from '../asn1/values.js';
import { attempt, MalformedInput } from '../errors.js';
import { CURVE_BY_OID, OID } from '../oids.js';

/** A SubjectPublicKeyInfo (RFC 5280 §4.1.2.7). */
export interface SubjectPublicKey {
  readonly algorithm: AlgorithmIdentifier;
  /** The octets of the BIT STRING: what OCSP and key identifiers hash. */
  readonly bits: Uint8Array;
  /**
   * Undefined for kinds of key that nothing here verifies with (DSA, explicit curves, RSA above 8,192 bits, …).
   */
  readonly key: PublicKey | undefined;
}

/** No authority uses larger keys, and a hostile key could make one signature take seconds. */
const MAX_MODULUS_BITS = 8192;
const MAX_EXPONENT_OCTETS = 5;

/** @throws MalformedInput */
export function parseSubjectPublicKey(node: Asn1Node): SubjectPublicKey {
  const fields = new Fields(node, 'subjectPublicKeyInfo');
  const algorithm = parseAlgorithmIdentifier(fields.required(TAG.sequence, 'algorithm'), 'public key algorithm');
  const bits = wholeOctets(fields.required(TAG.bitString, 'subjectPublicKey'), 'subjectPublicKey');
  fields.finish();
  return { algorithm, bits, key: toPublicKey(algorithm, bits, node.raw) };
}

/**
 * Whether a key may be used with a signature scheme (RFC 4055 §1.2, §3.3): a key for RSA-PSS serves
 * that padding alone, and where it states parameters, signatures must use its hashes and a salt
 * that is no shorter.
 */
export function allowsScheme({ algorithm }: SubjectPublicKey, scheme: SignatureScheme): boolean {
  if (algorithm.oid !== OID.rsaPss) return true;
  if (scheme.kind !== 'rsa-pss') return false;
  if (algorithm.parameters === undefined) return true;
  const own = attempt(() => signatureSchemeOf(algorithm, undefined, 'public key'));
  if (own instanceof MalformedInput || own?.kind !== 'rsa-pss') return false;
  return own.hash === scheme.hash && own.maskHash === scheme.maskHash && own.saltLength <= scheme.saltLength;
}

function toPublicKey(algorithm: AlgorithmIdentifier, bits: Uint8Array, spki: Uint8Array): PublicKey | undefined {
  const { oid, parameters } = algorithm;
  switch (oid) {
    case OID.rsaEncryption:
    case OID.rsaPss:
      return rsaKey(bits);
    case OID.ecPublicKey: {
      if (parameters === undefined || !hasTag(parameters, TAG.oid)) return undefined;
      const known = CURVE_BY_OID.get(oidValue(parameters, 'namedCurve'));
      return known && { type: 'ec', curve: known.curve, bits: known.bits, spki };
    }
    case OID.ed25519:
      return { type: 'ed25519', spki, bits: 256 };
    case OID.ed448:
      return { type: 'ed448', spki, bits: 456 };
    default:
      return undefined;
  }
}

function rsaKey(pkcs1: Uint8Array): PublicKey | undefined {
  const fields = new Fields(readSingle(pkcs1), 'RSAPublicKey');
  const modulus = fields.required(TAG.integer, 'modulus').content;
  const exponent = integerOctets(fields.required(TAG.integer, 'publicExponent'), 'publicExponent');
  fields.finish();
  const start = modulus.findIndex((octet) => octet !== 0);
  const leading = modulus[start];
  const bits = leading === undefined ? 0 : (modulus.length - start) * 8 - Math.clz32(leading) + 24;
  return bits > MAX_MODULUS_BITS || exponent.length > MAX_EXPONENT_OCTETS ? undefined : { type: 'rsa', pkcs1, bits };
}
