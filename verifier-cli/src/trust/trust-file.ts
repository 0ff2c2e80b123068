import { decodeUtf8, fromBase64, toHex } from '../../../schemas/crypto/encoding.js';
import { parseWitnessKey } from '../../../schemas/evidence/cosignature.js';
import { parseVerifierKey, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import { attempt, MalformedInput } from '../../../schemas/rfc3161/errors.js';
import { parseCertificate } from '../../../schemas/rfc3161/x509/certificate.js';

import { fewestWitnesses, type Quorum, type WitnessTrust } from './quorum.js';

/** Everything that a relying party trusts, in one file. */
export interface TrustFile {
  readonly ledgerKeys: readonly VerifierKey[];
  readonly witnesses: WitnessTrust;
  /** DER certificates of time stamp authorities. */
  readonly trustAnchors: readonly Uint8Array[];
}

/** The file cannot be used. The message names the line, if one is wrong. */
export class TrustFileMalformed extends Error {
  override readonly name = 'TrustFileMalformed';
}

/** Maximum number of log, witness and group lines of each kind, and of certificates. */
const MAX_OF_A_KIND = 100;
const LINE_FEED = 0x0a;
const HASH = 0x23;
const BEGIN = '-----BEGIN CERTIFICATE-----';
const END = '-----END CERTIFICATE-----';
const NONE = 'none';

/**
 * Reads a transparency log trust policy (c2sp.org/tlog-policy): `log`, `witness`, `group` and
 * `quorum` lines. Certificates in PEM between these lines are roots of time stamp authorities, which
 * that specification leaves to the application.
 *
 * Every line must be understood, because ignoring a mistyped line would silently weaken what the person requires. Names
 * and URLs must be UTF-8; comments may contain other octets.
 * @throws TrustFileMalformed
 */
export function parseTrustFile(bytes: Uint8Array): TrustFile {
  const reader = new TrustFileReader();
  let start = 0;
  for (let line = 1; start < bytes.length; line += 1) {
    const end = bytes.indexOf(LINE_FEED, start);
    if (end < 0) throw malformed(line, 'it does not end with a line feed, so the file may be cut off');
    reader.readLine(line, bytes.subarray(start, end));
    start = end + 1;
  }
  return reader.finish();
}

/** Returns whether a text is meant as a trust policy. Only such a file has a `quorum` line. */
export function isTrustFile(text: string): boolean {
  return /^[ \t]*quorum[ \t]/m.test(text);
}

function malformed(line: number, problem: string): TrustFileMalformed {
  return new TrustFileMalformed(`line ${line}: ${problem}`);
}

class TrustFileReader {
  readonly #logs = new Map<string, VerifierKey>();
  readonly #witnesses = new Map<string, VerifierKey>();
  readonly #anchors: Uint8Array[] = [];
  /** Witnesses and groups by name. */
  readonly #named = new Map<string, Quorum>();
  readonly #members = new Set<string>();
  #groups = 0;
  /** Undefined if there is no `quorum` line yet. Null for `quorum none`. */
  #quorum: Quorum | null | undefined;
  #certificate: { readonly line: number; text: string } | null = null;

  readLine(line: number, bytes: Uint8Array): void {
    const at = bytes.findIndex((octet) => octet < 0x20 && octet !== 0x09);
    if (at >= 0 || bytes.includes(0x7f))
      throw malformed(line, 'it has a control character, for example a carriage return: end lines with line feeds');
    const first = bytes.find((octet) => octet !== 0x20 && octet !== 0x09);
    if (first === HASH && this.#certificate === null) return;
    const text = decodeUtf8(bytes);
    if (text === null) throw malformed(line, 'it is not UTF-8');
    const words = text.split(/[ \t]+/).filter((word) => word !== '');
    if (this.#certificate !== null || words.join(' ') === BEGIN) this.#readCertificate(line, words.join(' '));
    else if (words.length > 0) this.#readWords(line, words);
  }

  finish(): TrustFile {
    if (this.#certificate !== null) throw malformed(this.#certificate.line, `the certificate has no line “${END}”`);
    const quorum = this.#quorum;
    if (quorum === undefined)
      throw new TrustFileMalformed('it has no “quorum” line: write “quorum none” if no witness is required');
    const required = quorum === null ? 0 : fewestWitnesses(quorum);
    return {
      ledgerKeys: [...this.#logs.values()],
      witnesses: { keys: [...this.#witnesses.values()], required, ...(quorum !== null && { quorum }) },
      trustAnchors: this.#anchors,
    };
  }

  #readWords(line: number, [keyword = '', ...words]: readonly string[]): void {
    if (keyword === 'log') this.#readLog(line, words);
    else if (keyword === 'witness') this.#readWitness(line, words);
    else if (keyword === 'group') this.#readGroup(line, words);
    else if (keyword === 'quorum') this.#readQuorum(line, words);
    else
      throw malformed(line, `“${keyword}” is unknown: a line begins with log, witness, group or quorum, or is in PEM`);
  }

  #readLog(line: number, [text, ...url]: readonly string[]): void {
    if (text === undefined || url.length > 1) throw malformed(line, 'write it as: log <verifier key> [<URL>]');
    const key = parseVerifierKey(text);
    if (key === null) throw malformed(line, `“${text}” is not a verifier key of a log, of type 0x01 or 0x06`);
    addKey(this.#logs, key, line, 'log');
  }

  #readWitness(line: number, [name, text, ...url]: readonly string[]): void {
    if (name === undefined || text === undefined || url.length > 1)
      throw malformed(line, 'write it as: witness <name> <verifier key> [<URL>]');
    const key = parseWitnessKey(text);
    if (key === null) throw malformed(line, `“${text}” is not a verifier key of a witness, of type 0x04 or 0x06`);
    addKey(this.#witnesses, key, line, 'witness');
    this.#define(line, { kind: 'witness', name, key });
  }

  #readGroup(line: number, [name, count, ...names]: readonly string[]): void {
    if (name === undefined || count === undefined || names.length === 0)
      throw malformed(line, 'write it as: group <name> all|any|<number> <member>…');
    const members = names.map((member) => this.#memberOf(line, member));
    const threshold = thresholdOf(count, members.length);
    if (threshold === null)
      throw malformed(line, `“${count}” is not “all”, “any” or a number from 1 to ${members.length}`);
    this.#groups += 1;
    if (this.#groups > MAX_OF_A_KIND) throw malformed(line, `there are more than ${MAX_OF_A_KIND} groups`);
    this.#define(line, { kind: 'group', name, threshold, members });
  }

  /**
   * Looks up a member of a group. A name can be a member only once, so that a witness contributes to a quorum in only
   * one way.
   */
  #memberOf(line: number, name: string): Quorum {
    const member = this.#named.get(name);
    if (member === undefined) throw malformed(line, `no earlier line defines a witness or group “${name}”`);
    if (this.#members.has(name)) throw malformed(line, `“${name}” is already a member of a group`);
    this.#members.add(name);
    return member;
  }

  #readQuorum(line: number, [name, ...more]: readonly string[]): void {
    if (name === undefined || more.length > 0) throw malformed(line, 'write it as: quorum <name>, or quorum none');
    if (this.#quorum !== undefined) throw malformed(line, 'there is a second “quorum” line');
    const quorum = name === NONE ? null : this.#named.get(name);
    if (quorum === undefined) throw malformed(line, `no earlier line defines a witness or group “${name}”`);
    this.#quorum = quorum;
  }

  #define(line: number, item: Quorum): void {
    if (item.name === NONE || this.#named.has(item.name)) throw malformed(line, `the name “${item.name}” is taken`);
    this.#named.set(item.name, item);
  }

  #readCertificate(line: number, text: string): void {
    if (this.#certificate === null) {
      this.#certificate = { line, text: '' };
    } else if (text === END) {
      const der = fromBase64(this.#certificate.text);
      const problem = der === null ? 'it is not base64' : problemOf(der);
      if (der === null || problem !== null)
        throw malformed(this.#certificate.line, `the certificate cannot be read: ${problem}`);
      if (this.#anchors.length === MAX_OF_A_KIND)
        throw malformed(line, `there are more than ${MAX_OF_A_KIND} certificates`);
      this.#anchors.push(der);
      this.#certificate = null;
    } else {
      this.#certificate.text += text;
    }
  }
}

function addKey(keys: Map<string, VerifierKey>, key: VerifierKey, line: number, kind: string): void {
  const id = toHex(key.publicKey);
  if (keys.has(id)) throw malformed(line, `an earlier ${kind} line has the same public key`);
  if (keys.size === MAX_OF_A_KIND) throw malformed(line, `there are more than ${MAX_OF_A_KIND} ${kind} lines`);
  keys.set(id, key);
}

/** @returns null if the word is not a threshold for this number of members */
function thresholdOf(word: string, members: number): number | null {
  if (word === 'all') return members;
  if (word === 'any') return 1;
  return /^[1-9]\d{0,2}$/.test(word) && Number(word) <= members ? Number(word) : null;
}

function problemOf(der: Uint8Array): string | null {
  const parsed = attempt(() => parseCertificate(der));
  return parsed instanceof MalformedInput ? parsed.message : null;
}
