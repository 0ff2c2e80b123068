import type { HashAlgorithm } from '../algorithms.js';
import { derValue } from '../der.js';
import { concatBytes, equalBytes } from '../encoding.js';
import { fromHex } from './binary-text.js';
import { type DerItem, derItems } from './der-items.js';
import { HASHES } from './hashes.js';

/** OpenSSL's limits, so that a hostile key cannot keep the reader busy. */
const MAX_MODULUS_BITS = 16_384;
const SMALL_MODULUS_BITS = 3072;
const MAX_EXPONENT_BITS = 64;

/** Content octets of the object identifiers (RFC 8017 B.1, NIST CSOR). */
const OIDS: Readonly<Record<HashAlgorithm, string>> = {
  md5: '2a864886f70d0205',
  sha1: '2b0e03021a',
  sha224: '608648016503040204',
  sha256: '608648016503040201',
  sha384: '608648016503040202',
  sha512: '608648016503040203',
  'sha512-256': '608648016503040206',
  'sha3-224': '608648016503040207',
  'sha3-256': '608648016503040208',
  'sha3-384': '608648016503040209',
  'sha3-512': '60864801650304020a',
};

/**
 * RSASSA-PKCS1-v1_5 (RFC 8017 §8.2.2): the expected encoding is built and compared, never parsed.
 */
export function verifyPkcs1(hash: HashAlgorithm, pkcs1: Uint8Array, data: Uint8Array, signature: Uint8Array): boolean {
  const encoded = openSignature(pkcs1, signature);
  if (encoded === null) return false;
  const algorithm = derValue(
    0x30,
    concatBytes(derValue(0x06, fromHex(OIDS[hash]) ?? new Uint8Array()), derValue(0x05, new Uint8Array())),
  );
  const info = derValue(0x30, concatBytes(algorithm, derValue(0x04, HASHES[hash](data))));
  const padding = encoded.bytes.length - info.length - 3;
  if (padding < 8) return false;
  const expected = concatBytes(new Uint8Array([0, 1]), new Uint8Array(padding).fill(0xff), new Uint8Array([0]), info);
  return equalBytes(encoded.bytes, expected);
}

/**
 * RSASSA-PSS (RFC 8017 §8.1.2).
 * @param saltLength octets; a salt of another length is refused
 */
export function verifyPss(
  scheme: { readonly hash: HashAlgorithm; readonly maskHash: HashAlgorithm; readonly saltLength: number },
  pkcs1: Uint8Array,
  data: Uint8Array,
  signature: Uint8Array,
): boolean {
  const opened = openSignature(pkcs1, signature);
  if (opened === null) return false;
  const encodedBits = opened.modulusBits - 1;
  const length = Math.ceil(encodedBits / 8);
  const encoded = opened.bytes.subarray(opened.bytes.length - length);
  if (opened.bytes.length > length && opened.bytes[0] !== 0) return false;
  const digest = HASHES[scheme.hash](data);
  const maskedLength = length - digest.length - 1;
  if (maskedLength < scheme.saltLength + 1 || encoded.at(-1) !== 0xbc) return false;
  const hash = encoded.subarray(maskedLength, length - 1);
  const unusedBits = 8 * length - encodedBits;
  if ((encoded[0] ?? 0) >> (8 - unusedBits) !== 0) return false;
  const mask = mgf1(scheme.maskHash, hash, maskedLength);
  const block = encoded.slice(0, maskedLength).map((octet, i) => octet ^ (mask[i] ?? 0));
  block[0] = (block[0] ?? 0) & (0xff >> unusedBits);
  const saltStart = maskedLength - scheme.saltLength;
  if (block.subarray(0, saltStart - 1).some((octet) => octet !== 0) || block[saltStart - 1] !== 1) return false;
  const again = HASHES[scheme.hash](concatBytes(new Uint8Array(8), digest, block.subarray(saltStart)));
  return equalBytes(again, hash);
}

/** RFC 8017 B.2.1. */
function mgf1(algorithm: HashAlgorithm, seed: Uint8Array, length: number): Uint8Array {
  const out = new Uint8Array(length);
  for (let counter = 0, filled = 0; filled < length; counter += 1) {
    const octets = new Uint8Array(4);
    new DataView(octets.buffer).setUint32(0, counter);
    const block = HASHES[algorithm](concatBytes(seed, octets)).subarray(0, length - filled);
    out.set(block, filled);
    filled += block.length;
  }
  return out;
}

/** signature^e mod n, as many octets as the modulus has (RFC 8017 §5.2.2). */
function openSignature(
  pkcs1: Uint8Array,
  signature: Uint8Array,
): { readonly bytes: Uint8Array; readonly modulusBits: number } | null {
  const [sequence, ...beyond] = derItems(pkcs1) ?? [];
  const [modulusItem, exponentItem, ...others] = sequence?.tag === 0x30 ? (derItems(sequence.content) ?? []) : [];
  const modulus = positive(modulusItem);
  const exponent = positive(exponentItem);
  if (modulus === null || exponent === null || beyond.length > 0 || others.length > 0) return null;
  const modulusBits = modulus.toString(2).length;
  const exponentBits = exponent.toString(2).length;
  const isBounded =
    modulusBits <= MAX_MODULUS_BITS && (modulusBits <= SMALL_MODULUS_BITS || exponentBits <= MAX_EXPONENT_BITS);
  if (!isBounded || exponent >= modulus || signature.length !== Math.ceil(modulusBits / 8)) return null;
  const value = bigEndian(signature);
  if (value >= modulus) return null;
  let power = 1n;
  for (const bit of exponent.toString(2)) {
    power = (power * power) % modulus;
    if (bit === '1') power = (power * value) % modulus;
  }
  const hex = power.toString(16).padStart(signature.length * 2, '0');
  const bytes = fromHex(hex);
  return bytes === null ? null : { bytes, modulusBits };
}

function positive(item: DerItem | undefined): bigint | null {
  if (item?.tag !== 0x02 || item.content.length === 0 || (item.content[0] ?? 0) >= 0x80) return null;
  const value = bigEndian(item.content);
  return value > 0n ? value : null;
}

function bigEndian(bytes: Uint8Array): bigint {
  let hex = '0x0';
  for (const octet of bytes) hex += octet.toString(16).padStart(2, '0');
  return BigInt(hex);
}
