import { equalBytes, toHex } from '../../crypto/encoding.js';
import { type AlgorithmIdentifier, parseAlgorithmIdentifier } from '../algorithms.js';
import { context, explicit, Fields, TAG } from '../asn1/fields.js';
import { readSingle } from '../asn1/reader.js';
import { timeValue } from '../asn1/times.js';
import { integerOctets, smallInteger, wholeOctets } from '../asn1/values.js';
import { MalformedInput } from '../errors.js';
import {
  type CertificateExtensions,
  type Extensions,
  parseExtensions,
  readCertificateExtensions,
} from './extensions.js';
import { type Name, parseName } from './names.js';
import { parseSubjectPublicKey, type SubjectPublicKey } from './public-key.js';

/** An X.509 certificate (RFC 5280 §4.1). Every byte array is a view of the bytes received. */
export interface Certificate {
  readonly der: Uint8Array;
  /** The signed bytes (`tbsCertificate`). */
  readonly tbs: Uint8Array;
  /** 1, 2 or 3. */
  readonly version: number;
  /** Content octets of the serial number. */
  readonly serial: Uint8Array;
  readonly serialHex: string;
  readonly issuer: Name;
  readonly subject: Name;
  readonly notBefore: Date;
  readonly notAfter: Date;
  readonly publicKey: SubjectPublicKey;
  readonly signatureAlgorithm: AlgorithmIdentifier;
  readonly signature: Uint8Array;
  readonly extensions: Extensions;
  readonly known: CertificateExtensions;
}

const MAX_CERTIFICATE_BYTES = 64 * 1024;

/**
 * Parses one certificate.
 * @param der exactly one certificate
 * @throws MalformedInput
 */
export function parseCertificate(der: Uint8Array): Certificate {
  if (der.length > MAX_CERTIFICATE_BYTES) throw new MalformedInput('too-large', 'the certificate is too large');
  const outer = new Fields(readSingle(der), 'certificate');
  const tbsNode = outer.required(TAG.sequence, 'tbsCertificate');
  const signatureAlgorithm = parseAlgorithmIdentifier(outer.required(TAG.sequence, 'signatureAlgorithm'), 'signature');
  const signature = wholeOctets(outer.required(TAG.bitString, 'signatureValue'), 'signatureValue');
  outer.finish();

  const fields = new Fields(tbsNode, 'tbsCertificate');
  const versionNode = fields.optional(context(0));
  const version = versionNode === undefined ? 1 : smallInteger(explicit(versionNode, 'version'), 'version') + 1;
  const serial = integerOctets(fields.required(TAG.integer, 'serialNumber'), 'serialNumber');
  const innerAlgorithm = fields.required(TAG.sequence, 'signature');
  const issuer = parseName(fields.required(TAG.sequence, 'issuer'), 'issuer');
  const validity = new Fields(fields.required(TAG.sequence, 'validity'), 'validity');
  const notBefore = timeValue(validity.requiredAny('notBefore'), 'notBefore');
  const notAfter = timeValue(validity.requiredAny('notAfter'), 'notAfter');
  validity.finish();
  const subject = parseName(fields.required(TAG.sequence, 'subject'), 'subject');
  const publicKey = parseSubjectPublicKey(fields.required(TAG.sequence, 'subjectPublicKeyInfo'));
  fields.optional(context(1, false));
  fields.optional(context(2, false));
  const extensionsNode = fields.optional(context(3));
  fields.finish();

  if (version > 3) throw new MalformedInput('bad-value', 'the certificate has an unknown version');
  if (!equalBytes(innerAlgorithm.raw, signatureAlgorithm.raw)) {
    throw new MalformedInput('contradiction', 'the certificate names two different signature algorithms');
  }
  const extensions: Extensions = extensionsNode ? parseExtensions(explicit(extensionsNode, 'extensions')) : new Map();
  return {
    der,
    tbs: tbsNode.raw,
    version,
    serial,
    serialHex: toHex(serial),
    issuer,
    subject,
    notBefore,
    notAfter,
    publicKey,
    signatureAlgorithm,
    signature,
    extensions,
    known: readCertificateExtensions(extensions, issuer),
  };
}
