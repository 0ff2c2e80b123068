import type { HashAlgorithm, SignatureScheme } from '../crypto/algorithms.js';
import { context, explicit, Fields, hasTag, TAG } from './asn1/fields.js';
import type { Asn1Node } from './asn1/reader.js';
import { oidValue, smallInteger } from './asn1/values.js';
import { MalformedInput } from './errors.js';
import { ECDSA_HASH_BY_OID, HASH_BY_OID, OID, RSA_HASH_BY_OID } from './oids.js';

/** An AlgorithmIdentifier, unevaluated (RFC 5280 §4.1.1.2). */
export interface AlgorithmIdentifier {
  readonly oid: string;
  readonly parameters: Asn1Node | undefined;
  readonly raw: Uint8Array;
}

/** @throws MalformedInput */
export function parseAlgorithmIdentifier(node: Asn1Node, what: string): AlgorithmIdentifier {
  const fields = new Fields(node, what);
  const oid = oidValue(fields.required(TAG.oid, 'algorithm'), `${what}.algorithm`);
  const parameters = fields.atEnd() ? undefined : fields.requiredAny('parameters');
  fields.finish();
  return { oid, parameters, raw: node.raw };
}

/**
 * Returns the hash that an AlgorithmIdentifier names, or undefined if it is unknown.
 * @throws MalformedInput if its parameters are anything but absent or NULL (RFC 5754 §2)
 */
export function hashOf(algorithm: AlgorithmIdentifier, what: string): HashAlgorithm | undefined {
  const hash = HASH_BY_OID.get(algorithm.oid);
  if (hash !== undefined) requireNoParameters(algorithm, what);
  return hash;
}

/**
 * Returns the signature scheme that an AlgorithmIdentifier names, or undefined if it is unknown.
 *
 * @param digest the hash to use where the identifier names only the key's kind (CMS allows that,
 *   RFC 5754 §3)
 * @throws MalformedInput if its parameters do not match the algorithm
 */
export function signatureSchemeOf(
  algorithm: AlgorithmIdentifier,
  digest: HashAlgorithm | undefined,
  what: string,
): SignatureScheme | undefined {
  const { oid } = algorithm;
  if (oid === OID.rsaPss) return pssScheme(algorithm, what);
  const rsaHash = oid === OID.rsaEncryption ? digest : RSA_HASH_BY_OID.get(oid);
  if (rsaHash !== undefined) {
    requireNoParameters(algorithm, what);
    return { kind: 'rsa-pkcs1', hash: rsaHash };
  }
  const ecdsaHash = ECDSA_HASH_BY_OID.get(oid);
  if (ecdsaHash !== undefined) {
    requireNoParameters(algorithm, what);
    return { kind: 'ecdsa', hash: ecdsaHash };
  }
  // Some signers name the key's algorithm, including the curve, where the signature's belongs.
  if (oid === OID.ecPublicKey && digest !== undefined) return { kind: 'ecdsa', hash: digest };
  if (oid === OID.ed25519 || oid === OID.ed448) {
    requireNoParameters(algorithm, what);
    return { kind: oid === OID.ed25519 ? 'ed25519' : 'ed448' };
  }
  return undefined;
}

function requireNoParameters(algorithm: AlgorithmIdentifier, what: string): void {
  const { parameters } = algorithm;
  if (parameters === undefined) return;
  if (!hasTag(parameters, TAG.null) || parameters.content.length > 0) {
    throw new MalformedInput('bad-value', `${what} has parameters that its algorithm does not allow`);
  }
}

/**
 * RSASSA-PSS-params (RFC 4055 §3.1): omitted fields default to SHA-1, MGF1 with SHA-1 and 20 octets
 * of salt.
 */
function pssScheme(algorithm: AlgorithmIdentifier, what: string): SignatureScheme | undefined {
  const { parameters } = algorithm;
  if (parameters === undefined) throw new MalformedInput('missing-field', `${what} lacks its RSA-PSS parameters`);
  const fields = new Fields(parameters, `${what}.parameters`);
  const hashNode = fields.optional(context(0));
  const maskNode = fields.optional(context(1));
  const saltNode = fields.optional(context(2));
  const trailerNode = fields.optional(context(3));
  fields.finish();
  if (trailerNode && smallInteger(explicit(trailerNode, 'trailerField'), 'trailerField') !== 1) {
    throw new MalformedInput('bad-value', `${what} has an unknown RSA-PSS trailer`);
  }
  const hash = hashNode === undefined ? 'sha1' : nestedHash(explicit(hashNode, 'hashAlgorithm'), what);
  const maskHash = maskNode === undefined ? 'sha1' : mgf1Hash(explicit(maskNode, 'maskGenAlgorithm'), what);
  const saltLength = saltNode === undefined ? 20 : smallInteger(explicit(saltNode, 'saltLength'), 'saltLength');
  if (hash === undefined || maskHash === undefined) return undefined;
  return { kind: 'rsa-pss', hash, maskHash, saltLength, identifier: algorithm.raw };
}

function nestedHash(node: Asn1Node, what: string): HashAlgorithm | undefined {
  return hashOf(parseAlgorithmIdentifier(node, what), what);
}

function mgf1Hash(node: Asn1Node, what: string): HashAlgorithm | undefined {
  const mask = parseAlgorithmIdentifier(node, what);
  if (mask.oid !== OID.mgf1 || mask.parameters === undefined) return undefined;
  return nestedHash(mask.parameters, what);
}
