import { equalBytes } from '../../crypto/encoding.js';
import { type AlgorithmIdentifier, parseAlgorithmIdentifier } from '../algorithms.js';
import { context, explicit, Fields, hasTag, TAG } from '../asn1/fields.js';
import { type Asn1Node, childrenOf, eachChild, readSingle } from '../asn1/reader.js';
import { preciseGeneralizedTime, timeValue } from '../asn1/times.js';
import { enumerated, smallInteger, wholeOctets } from '../asn1/values.js';
import { attempt, MalformedInput } from '../errors.js';
import { OID } from '../oids.js';
import { distributionPointNames, type Extensions, type PointName, parseExtensions } from '../x509/extensions.js';
import { type Name, parseName } from '../x509/names.js';

/** A certificate revocation list (RFC 5280 §5). Its entries stay bytes until one is looked for. */
export interface Crl {
  readonly der: Uint8Array;
  readonly tbs: Uint8Array;
  readonly signatureAlgorithm: AlgorithmIdentifier;
  readonly signature: Uint8Array;
  readonly issuer: Name;
  readonly thisUpdate: Date;
  readonly nextUpdate: Date | undefined;
  readonly entries: Asn1Node | undefined;
  readonly extensions: Extensions;
  /** Start of the time since which entries of expired certificates are kept (X.509 §9.5.2.8). */
  readonly keepsExpiredSince: Date | undefined;
  /** Undefined if it is about all certificates of the issuer. */
  readonly scope: CrlScope | 'unreadable' | undefined;
}

/** The issuingDistributionPoint extension (RFC 5280 §5.2.5): which certificates the list covers. */
export interface CrlScope {
  /** Undefined if it is about every distribution point. */
  readonly names: readonly PointName[] | undefined;
  readonly onlyUserCertificates: boolean;
  readonly onlyCaCertificates: boolean;
  readonly onlyAttributeCertificates: boolean;
  readonly onlySomeReasons: boolean;
  readonly indirect: boolean;
}

/** An entry of a CRL for one certificate. */
export interface CrlEntry {
  readonly revokedAt: Date;
  /** CRLReason (RFC 5280 §5.3.1), or undefined if the entry gives none. */
  readonly reason: number | undefined;
  /** Whether the entry has a critical extension that is not understood. */
  readonly unknownCritical: boolean;
}

const MAX_CRL_BYTES = 16 * 1024 * 1024;

/** @param der exactly one CRL, at most 16 MiB. @throws MalformedInput */
export function parseCrl(der: Uint8Array): Crl {
  if (der.length > MAX_CRL_BYTES) throw new MalformedInput('too-large', 'the CRL is larger than 16 MiB');
  const outer = new Fields(readSingle(der), 'CertificateList');
  const tbsNode = outer.required(TAG.sequence, 'tbsCertList');
  const signatureAlgorithm = parseAlgorithmIdentifier(outer.required(TAG.sequence, 'signatureAlgorithm'), 'signature');
  const signature = wholeOctets(outer.required(TAG.bitString, 'signatureValue'), 'signatureValue');
  outer.finish();

  const fields = new Fields(tbsNode, 'tbsCertList');
  const version = fields.optional(TAG.integer);
  const innerAlgorithm = fields.required(TAG.sequence, 'signature');
  const issuer = parseName(fields.required(TAG.sequence, 'issuer'), 'issuer');
  const thisUpdate = timeValue(fields.requiredAny('thisUpdate'), 'thisUpdate');
  const nextUpdateNode = fields.optional(TAG.utcTime) ?? fields.optional(TAG.generalizedTime);
  const entries = fields.optional(TAG.sequence);
  const extensionsNode = fields.optional(context(0));
  fields.finish();
  if (version !== undefined && smallInteger(version, 'version') !== 1) {
    throw new MalformedInput('bad-value', 'the CRL has an unknown version');
  }
  if (!equalBytes(innerAlgorithm.raw, signatureAlgorithm.raw)) {
    throw new MalformedInput('contradiction', 'the CRL names two different signature algorithms');
  }
  const extensions: Extensions = extensionsNode
    ? parseExtensions(explicit(extensionsNode, 'crlExtensions'))
    : new Map();
  const keeps = extensions.get(OID.expiredCertificatesOnCrl);
  const scope = extensions.get(OID.issuingDistributionPoint);
  return {
    der,
    tbs: tbsNode.raw,
    signatureAlgorithm,
    signature,
    issuer,
    thisUpdate,
    nextUpdate: nextUpdateNode && timeValue(nextUpdateNode, 'nextUpdate'),
    entries,
    extensions,
    keepsExpiredSince: keeps && preciseGeneralizedTime(readSingle(keeps.value), 'expiredCertsOnCRL').date,
    scope: scope && readScope(scope.value, issuer),
  };
}

/**
 * Returns the issuer that an unreadable CRL names, because a damaged list still concerns its certificates, or undefined
 * if not even that can be read.
 */
export function issuerOfUnreadable(der: Uint8Array): Name | undefined {
  const issuer = attempt(() => {
    const [tbs] = childrenOf(readSingle(der));
    const [first, second, third] = tbs === undefined ? [] : childrenOf(tbs);
    const node = first !== undefined && hasTag(first, TAG.integer) ? third : second;
    return node && parseName(node, 'issuer');
  });
  return issuer instanceof MalformedInput ? undefined : issuer;
}

/**
 * The entry for a serial number, or undefined if the list has none.
 * @throws MalformedInput if the list is not readable
 */
export function findCrlEntry(crl: Crl, serial: Uint8Array): CrlEntry | undefined {
  if (crl.entries === undefined) return undefined;
  for (const item of entriesThatMayBe(crl.entries, serial)) {
    const fields = new Fields(item, 'revokedCertificate');
    if (!equalBytes(fields.required(TAG.integer, 'userCertificate').content, serial)) continue;
    const revokedAt = timeValue(fields.requiredAny('revocationDate'), 'revocationDate');
    const extensionsNode = fields.optional(TAG.sequence);
    fields.finish();
    const extensions: Extensions = extensionsNode ? parseExtensions(extensionsNode) : new Map();
    const reason = extensions.get(OID.crlReason);
    return {
      revokedAt,
      reason: reason && enumerated(readSingle(reason.value), 'reasonCode'),
      unknownCritical: [...extensions.values()].some(
        ({ critical, oid }) => critical && oid !== OID.crlReason && oid !== OID.invalidityDate,
      ),
    };
  }
  return undefined;
}

/** Yields the entries of a list, without those that obviously have another serial number. */
function* entriesThatMayBe(entries: Asn1Node, serial: Uint8Array): Generator<Asn1Node> {
  let rest = entries.content;
  do {
    rest = rest.subarray(lengthOfOthers(rest, serial));
    const [item] = eachChild({ ...entries, content: rest });
    if (item === undefined) return;
    yield item;
    rest = rest.subarray(item.raw.length);
  } while (rest.length > 0);
}

/**
 * Returns the length of the leading entries that obviously have another serial number. A list may have a million of
 * them, and parsing each would take seconds.
 */
function lengthOfOthers(entries: Uint8Array, serial: Uint8Array): number {
  let at = 0;
  for (;;) {
    // SEQUENCE { INTEGER …, both with a length of one octet.
    const [type = 0, length = 0x80, integer = 0, digits = 0x80] = entries.subarray(at, at + 4);
    const isPlain = type === 0x30 && integer === 0x02 && length < 0x80 && digits < 0x80 && digits + 2 <= length;
    if (!isPlain || at + 2 + length > entries.length) return at;
    if (digits === serial.length && serial.every((octet, i) => entries[at + 4 + i] === octet)) return at;
    at += 2 + length;
  }
}

function readScope(value: Uint8Array, issuer: Name): CrlScope | 'unreadable' {
  const scope = attempt(() => parseScope(readSingle(value), issuer));
  return scope instanceof MalformedInput ? 'unreadable' : scope;
}

function parseScope(node: Asn1Node, issuer: Name): CrlScope {
  const fields = new Fields(node, 'issuingDistributionPoint');
  const name = fields.optional(context(0));
  const flag = (tag: number) => {
    const value = fields.optional(context(tag, false));
    return value?.content.some((octet) => octet !== 0) ?? false;
  };
  // DistributionPointName is a CHOICE, so its tag is explicit even in a module of implicit tags (X.680 §31.2.7).
  const names = name && distributionPointNames(explicit(name, 'distributionPoint'), issuer);
  if (names?.length === 0) throw new MalformedInput('bad-value', 'issuingDistributionPoint has an empty name');
  const onlyUserCertificates = flag(1);
  const onlyCaCertificates = flag(2);
  const onlySomeReasons = fields.optional(context(3, false)) !== undefined;
  const indirect = flag(4);
  const onlyAttributeCertificates = flag(5);
  fields.finish();
  return {
    names,
    onlyUserCertificates,
    onlyCaCertificates,
    onlyAttributeCertificates,
    onlySomeReasons,
    indirect,
  };
}
