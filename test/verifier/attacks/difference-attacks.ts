import { createHash, generateKeyPairSync } from 'node:crypto';
import { ed25519 } from '@noble/curves/ed25519.js';
import { bytesToNumberLE, numberToBytesLE } from '@noble/curves/utils.js';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { disclosureDigest } from '../../../schemas/evidence/disclosure.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { parseVerifierKey, type VerifierKey } from '../../../schemas/evidence/signed-note.js';
import type { JsonValue } from '../../../schemas/json/json-value.js';
import {
  CA_EXTENSIONS,
  extendedKeyUsage,
  keyUsage,
  makeCertificate,
  type TestCertificate,
  TIME_STAMPING,
} from '../../rfc3161/support/certificates.js';
import { bits, oid, sequence, timeText } from '../../rfc3161/support/der.js';
import type { Signer } from '../../rfc3161/support/keys.js';
import { type MlDsaNoteKey, mlDsaLine, mlDsaNoteKey, mlDsaTextLine } from '../../support/independent-tlog.js';
import { type FixtureAuthority, LEDGER_KEY, NEXT_LEDGER_KEY, ORIGIN } from '../../support/ledger-fixture.js';
import { fixtureDisclosure, minute, policyEvent } from '../../support/ledger-fixture-events.js';
import type { Files, PackageHooks } from '../../support/package-builder.js';
import { signedNote, type TestSigningKey } from '../../support/signing-key.js';
import { writeZip, type ZipFile } from '../../support/zip-writer.js';
import {
  type Attack,
  allowed,
  attack,
  batchLine,
  disclosing,
  doubt,
  edit,
  event,
  noPackage,
  record,
  replaced,
  strings,
  withoutEntry,
  zipFile,
} from './attack.js';

/** Cases in which the command, its page and the script said different things, or could be stopped. */
export function differenceAttacks(authority: FixtureAuthority): Attack[] {
  return [
    ...[...zips(), ...files(), ...values(), ...notes(), ...mlDsa()],
    ...[...weakStamps(authority), ...others(authority)],
  ];
}

const README = 'README.txt';
const central = (name: string, change: ZipFile['central']): PackageHooks =>
  zipFile(name, (file) => Object.assign(file, { central: { ...file.central, ...change } }));

/** A ZIP64 field with these values of 8 bytes, and further bytes. */
function zip64(values: readonly number[], more = 0): Uint8Array {
  const out = Buffer.alloc(4 + 8 * values.length + more);
  out.writeUInt16LE(1, 0);
  out.writeUInt16LE(8 * values.length + more, 2);
  for (const [i, value] of values.entries()) out.writeBigUInt64LE(BigInt(value), 4 + 8 * i);
  return new Uint8Array(out);
}

/** A file that states its size in a ZIP64 field. */
const large = (extra: (size: number) => Uint8Array): PackageHooks =>
  zipFile(README, (file) => Object.assign(file, { central: { size: 0xffffffff, extra: extra(file.content.length) } }));

function zips(): Attack[] {
  const structure = (name: string, hooks: PackageHooks) => attack(name, 'container.structure', hooks);
  const MARKS = '\u0315\u0300'.repeat(15_000);
  return [
    allowed('files in another order than the directory', central(README, { isLast: true })),
    structure('a folder by its bit of DOS', central(README, { attributes: 0o100644 * 0x10000 + 0x10 })),
    structure('a volume by its bit of DOS', central(README, { attributes: 0x08, madeBy: 20 })),
    structure('a link made by DOS', central(README, { attributes: 0o120777 * 0x10000, madeBy: 20 })),
    structure('a folder made by DOS', central(README, { attributes: 0o040755 * 0x10000, madeBy: 20 })),
    allowed('a file made by DOS', central(README, { attributes: 0x20, madeBy: 20 })),
    allowed(
      'a size in a ZIP64 field',
      large((size) => zip64([size])),
    ),
    structure(
      'a ZIP64 field with values that are not needed',
      large((size) => zip64([size, size, 0])),
    ),
    structure(
      'a ZIP64 field with nine bytes too many',
      large((size) => zip64([size], 9)),
    ),
    structure('a ZIP64 field without a need', central(README, { extra: zip64([3]) })),
    structure('a ZIP64 field that is missing', central(README, { size: 0xffffffff })),
    structure(
      'a ZIP64 field twice',
      large((size) => new Uint8Array([...zip64([size]), ...zip64([size])])),
    ),
    attack('a long name of combining marks', 'container.names', {
      zipFiles: (list) => [...list, { name: MARKS, content: utf8('x') }],
    }),
    attack('a manifest that overlaps another file', 'container.structure', {
      zipFiles: (list) =>
        list.map((file) => (file.name === PACKAGE_FILES.manifest ? { ...file, sharesDataOf: 0 } : file)),
    }),
    noPackage('a ZIP without files', () => writeZip([])),
    noPackage('a ZIP without a manifest', () => writeZip([{ name: README, content: utf8('x') }])),
    noPackage('a text', () => utf8('no package\n')),
    noPackage('an empty file', () => new Uint8Array()),
    noPackage('a ZIP that is cut off', (zip) => zip.slice(0, -30)),
    noPackage('JSON that is no receipt', () => utf8('{"format":"consent-ledger-receipt"}')),
    noPackage('a receipt without files', () => utf8('{"format":"consent-ledger-receipt","version":1,"files":{}}')),
  ];
}

function files(): Attack[] {
  const person = (records: number): PackageHooks => ({
    manifest: (one) => ({
      ...one,
      filter: { ...one.filter, person: { digest: 'A'.repeat(43), id: 'ab'.repeat(32), records } },
    }),
  });
  /** A package with a filter that all of its consents match, in which nothing looks for a tag in batch 0. */
  const tagsOfNone = (content: string): PackageHooks => ({
    manifest: (one) => ({ ...one, filter: { ...one.filter, from: '2020-01-01T00:00:00.000Z' } }),
    files: (list) => void list.set(PACKAGE_FILES.tags(0), utf8(content)),
  });
  return [
    attack('tags of a batch that has none', 'batch.tags', tagsOfNone(`{"index":0,"tag":"${'ab'.repeat(32)}"}\n`)),
    attack('an empty file of tags of a batch that has none', 'batch.tags', tagsOfNone('')),
    attack(
      'a path in upper-case digits',
      'batch.header',
      batchLine(1, (one) => Object.assign(one, { path: strings(one.path).map((hash) => hash.toUpperCase()) })),
    ),
    doubt('a change of keys that is not proved', 'ledger.announcement', {
      rotateAt: 4,
      consistencyLines: (lines) => lines.slice(0, -1),
    }),
    attack('a retired key that signs on after a change that is not proved', 'ledger.key', {
      rotateAt: 4,
      note: (note, size, text) => (size === 5 ? signedNote(text, LEDGER_KEY) : note),
      consistencyLines: (lines) => lines.slice(0, -1),
    }),
    attack('a person with more records than there are entries', 'completeness.person', person(1_000_000)),
    attack('a person with more records than can be counted', 'completeness.person', person(Number.MAX_SAFE_INTEGER)),
    allowed('consistency proofs in another order', { consistencyLines: (lines) => lines.toReversed() }),
    attack('a consistency proof twice', 'ledger.consistency', {
      consistencyLines: (lines) => [...lines, ...lines.slice(0, 1)],
    }),
    attack('proofs of no leaf of a batch that states many', 'entry.inclusion', {
      proofLines: (lines, batch) => (batch === 1 ? [] : lines),
    }),
  ];
}

/** A disclosure with the text of a value as it is. */
const raw = (json: string, name = 'metadata'): string =>
  Buffer.from(`["${'A'.repeat(22)}","${name}",${json}]`).toString('base64url');

const NOTICE = { text: 'Opt-Out Request Honored', language: 'en', version: 1 };
const CHOSEN = { layout: 'bar', layout_version: 3, layer: 'settings', control: 'save' };
const presented = (value: JsonValue): string => fixtureDisclosure('p', 'presentation', value);

function values(): Attack[] {
  const withValue = (...disclosures: string[]) => disclosing('c0', disclosures);
  const digest = (name: string, disclosure: string) => attack(name, 'disclosure.digest', withValue(disclosure));
  const good = fixtureDisclosure('a', 'signer_name', 'Ann');
  const visitor = (value: string) => fixtureDisclosure('v', 'visitor_id', value);
  const metadata = (name: string, json: string) => allowed(name, withValue(raw(json)));
  return [
    attack(
      'a disclosure that begins with U+0157',
      'disclosure.digest',
      event('c0', (one) => {
        const text = `\u0157${good.slice(1)}`;
        one.disclosures = [text];
        one.record.disclosures = { signer_name: disclosureDigest(text) };
      }),
    ),
    allowed('a visitor of 100 characters outside the basic plane', withValue(visitor('😀'.repeat(100)))),
    digest('a visitor of 101 characters', visitor('v'.repeat(101))),
    digest('a visitor of many combining marks', visitor('\u0315\u0300'.repeat(9_000))),
    allowed(
      'a program of 40 characters outside the basic plane',
      withValue(fixtureDisclosure('p', 'presentation', { sdk: '😀'.repeat(40) })),
    ),
    allowed(
      'the notice of a signal, without a question',
      withValue(presented({ notice: NOTICE, sdk: 'browser 0.1.0' })),
    ),
    allowed(
      'a choice with a notice, the size of its text and a rule',
      withValue(presented({ ...CHOSEN, notice: NOTICE, text_size: 'enlarged', rule: 'ccpa' })),
    ),
    digest('a notice of 501 characters', presented({ notice: { ...NOTICE, text: 'x'.repeat(501) } })),
    digest('a notice with a further member', presented({ notice: { ...NOTICE, url: 'https://shop.example' } })),
    digest('a notice of version 0', presented({ notice: { ...NOTICE, version: 0 } })),
    digest('a size of text that is none of the classes', presented({ ...CHOSEN, text_size: '16px' })),
    digest('a number with more digits than its double needs', raw('{"x":0.10000000000000001}')),
    digest('the smallest double with two digits', raw('{"x":4.9e-324}')),
    digest('a number that is too small for a double', raw('{"x":1e-99999999999999999999999999}')),
    metadata('the smallest double', '{"x":5e-324}'),
    metadata('zero with an exponent of many digits', '{"x":0e9999999999999999999999999999}'),
    metadata('a number with zeros at its end', '{"x":1.500e2}'),
    allowed('an import that claims year 0', imported('0000-02-29T00:00:00.000Z')),
    attack(
      'an import that claims a day that year 1 does not have',
      'record.format',
      imported('0001-02-29T00:00:00.000Z'),
    ),
  ];
}

/** Makes the last consent one that was imported. */
function imported(claimed: string): PackageHooks {
  return event('c7', (one) => {
    one.type = 'ConsentImported.v1';
    Object.assign(one.record, {
      channel: 'import',
      api_key_id: null,
      valid_until: claimed,
      import: {
        claimed_at: claimed,
        tool: 'Tool',
        file_sha256: 'ab'.repeat(32),
        row: 1,
        mapping_sha256: 'cd'.repeat(32),
        imported_by: 'operator',
      },
    });
  });
}

/** The neutral element of edwards25519: with this key, a signature of it and 0 is right for every text. */
const IDENTITY = Uint8Array.from({ length: 32 }, (_, i) => (i === 0 ? 1 : 0));

function notes(): Attack[] {
  const lines = (count: number, name = 'someone') =>
    Array.from({ length: count }, (_, i) => `\u2014 ${name} ${toBase64(new Uint8Array(68).fill(i % 256))}\n`).join('');
  const noted = (more: string): PackageHooks => ({ note: (note) => note + more });
  const weak: TestSigningKey = {
    ...LEDGER_KEY,
    publicKey: IDENTITY,
    sign: () => new Uint8Array([...IDENTITY, ...new Uint8Array(32)]),
  };
  const again = (keys: readonly string[]): PackageHooks => ({
    rotateAt: 4,
    announcements: [{ batch: 3, keys }],
  });
  const witness = mlDsaNoteKey('witness.example', sha256(utf8('witness')));
  return [
    allowed('255 signatures of unknown keys', noted(lines(255))),
    attack('256 signatures of unknown keys, and its own', 'ledger.checkpoint', noted(lines(256))),
    ...['\u0001', '\u0085', '\ufeff', '\u00a0', '\u007f'].map((odd) =>
      attack(
        `a name in a signature line with U+${odd.charCodeAt(0).toString(16).padStart(4, '0')}`,
        'ledger.checkpoint',
        noted(lines(1, `a${odd}b`)),
      ),
    ),
    attack('a manifest key of small order', 'manifest.signature', { manifestKey: weak }),
    attack(
      'the first key announced again',
      'ledger.announcement',
      again([NEXT_LEDGER_KEY.verifierKey, LEDGER_KEY.verifierKey]),
    ),
    allowed('a policy with a witness of ML-DSA-44', {
      world: ({ batches }) =>
        void batches[0]?.push(policyEvent(1, 3, { witnesses: [witness.vkey], stamp_within_seconds: 3600 })),
    }),
    attack(
      'an open question about the key before a file that was changed',
      'manifest.files',
      { signedFiles: edit(README, () => utf8('Trust me.')) },
      {
        ledgerKeys: keysOf(NEXT_LEDGER_KEY.verifierKey),
      },
    ),
    doubt('another key of the ledger', 'ledger.key', {}, { ledgerKeys: keysOf(NEXT_LEDGER_KEY.verifierKey) }),
  ];
}

function keysOf(...lines: readonly string[]): readonly VerifierKey[] {
  return lines.map((line) => {
    const key = parseVerifierKey(line);
    if (key === null) throw new Error(`not a key of a ledger: ${line}`);
    return key;
  });
}

const ML_DSA = mlDsaNoteKey(ORIGIN, sha256(utf8('ledger key of ML-DSA-44')));

function mlDsa(): Attack[] {
  const options = { ledgerKeys: keysOf(LEDGER_KEY.verifierKey, ML_DSA.vkey) };
  const signed = (line: (text: string, key: MlDsaNoteKey) => string): PackageHooks => ({
    note: (note, _, text) => note + line(text, ML_DSA),
    certificate: (note) => note + mlDsaTextLine(ML_DSA, note.slice(0, note.lastIndexOf('\n\n') + 1)),
  });
  const cut = (line: string, end: number): string => {
    const [dash, name, data = ''] = line.trimEnd().split(' ');
    return `${dash} ${name} ${Buffer.from(data, 'base64').subarray(0, end).toString('base64')}\n`;
  };
  return [
    allowed(
      'a ledger that signs with ML-DSA-44 too',
      signed((text, key) => mlDsaLine(key, text, 0)),
      options,
    ),
    attack(
      'a signature with ML-DSA-44 that states a time',
      'ledger.key',
      signed((text, key) => mlDsaLine(key, text, 1_772_359_200)),
      options,
    ),
    attack(
      'a signature with ML-DSA-44 that is cut',
      'ledger.key',
      signed((text, key) => cut(mlDsaLine(key, text, 0), -1)),
      options,
    ),
    attack(
      'a signature with ML-DSA-44 twice',
      'ledger.key',
      signed((text, key) => mlDsaLine(key, text, 0).repeat(2)),
      options,
    ),
    {
      ...allowed(
        'a ledger that signs with ML-DSA-44 alone',
        {
          note: (_, __, text) => `${text}\n${mlDsaLine(ML_DSA, text, 0)}`,
          certificate: (note) => {
            const text = note.slice(0, note.lastIndexOf('\n\n') + 1);
            return `${text}\n${mlDsaTextLine(ML_DSA, text)}`;
          },
        },
        options,
      ),
      notByScript: 'signatures with ML-DSA-44',
    },
  ];
}

const ED25519 = sequence(oid('1.3.101.112'));

/** A key of Ed25519 in certificates and tokens. @param sign makes R and S */
function edwardsSigner(point: Uint8Array, signWith: (data: Uint8Array) => Uint8Array): Signer {
  const { privateKey } = generateKeyPairSync('ed25519');
  return { privateKey, spki: sequence(ED25519, bits(point)), hash: 'sha512', algorithm: ED25519, sign: signWith };
}

/** Time stamps that are valid only by a signature with a point of small order (docs/evidence-format.md §7). */
function weakStamps({ root, newSigner }: FixtureAuthority): Attack[] {
  const weak = edwardsSigner(IDENTITY, () => new Uint8Array([...IDENTITY, ...new Uint8Array(32)]));
  const secret = 12_345_678_901_234_567_890n;
  const key = ed25519.Point.BASE.multiply(secret).toBytes();
  // R is the neutral element: S is the challenge times the secret.
  const withWeakR = edwardsSigner(key, (data) => {
    const digest = createHash('sha512').update(IDENTITY).update(key).update(data).digest();
    const scalar = (bytesToNumberLE(new Uint8Array(digest)) * secret) % ed25519.Point.Fn.ORDER;
    return new Uint8Array([...IDENTITY, ...numberToBytesLE(scalar, 32)]);
  });
  const stamping = (issuer: TestCertificate, signer: Signer) =>
    makeCertificate({
      name: 'Weak TSA',
      issuer,
      signer,
      extensions: [extendedKeyUsage(true, TIME_STAMPING), keyUsage(0)],
    });
  const ca = makeCertificate({ name: 'Weak CA', issuer: root, signer: weak, extensions: CA_EXTENSIONS });
  const enclosed = (...certificates: readonly TestCertificate[]): PackageHooks => ({
    files: (list) => {
      for (const { der } of certificates) list.set(PACKAGE_FILES.certificate(toHex(sha256(der))), der);
    },
  });
  const by = (one: TestCertificate, ...more: readonly TestCertificate[]): PackageHooks => ({
    ...enclosed(one, ...more),
    tokenBy: () => one,
    // The authority of the fixture gives no answers about others.
    crl: () => null,
  });
  return [
    attack('a time stamp by a key of small order', 'tst.signature', by(stamping(root, weak))),
    attack('a time stamp whose R is of small order', 'tst.signature', by(stamping(root, withWeakR))),
    attack(
      'a time stamp by a certificate that a key of small order signed',
      'tst.path',
      by(stamping(ca, newSigner()), ca),
    ),
    allowed('a certificate of small order that no path needs', enclosed(ca)),
  ];
}

function others(authority: FixtureAuthority): Attack[] {
  const foreignRoot = makeCertificate({
    name: 'Foreign Root',
    signer: authority.newSigner(),
    extensions: CA_EXTENSIONS,
  });
  const foreign = makeCertificate({
    name: 'Foreign TSA',
    issuer: foreignRoot,
    signer: authority.newSigner(),
    extensions: [extendedKeyUsage(true, TIME_STAMPING), keyUsage(0)],
  });
  const byForeign = {
    tokenBy: (size: number) => (size === 4 ? foreign : null),
    files: (list: Files) => {
      for (const { der } of [foreignRoot, foreign]) list.set(PACKAGE_FILES.certificate(toHex(sha256(der))), der);
    },
  };
  return [
    allowed('a stamp of an unknown root over an older checkpoint', byForeign),
    allowed('a stamp of an unknown root with an earlier time than the stamps before', {
      tokenBy: byForeign.tokenBy,
      token: (size) => (size === 4 ? { genTime: timeText(minute(-60)) } : {}),
    }),
    allowed('a stamp half a minute after the time of verification', {}, { at: new Date(minute(59).getTime()) }),
    attack(
      'a revision that is missing before an open question',
      'completeness.runs',
      { entryLines: withoutEntry('c5') },
      {
        ledgerKeys: keysOf(NEXT_LEDGER_KEY.verifierKey),
      },
    ),
    attack('a manifest with a number of more digits than its double needs', 'manifest.format', {
      signedFiles: edit(PACKAGE_FILES.manifest, (bytes) =>
        replaced(bytes, '"checkpoint":5', '"checkpoint":5.0000000000000001'),
      ),
    }),
    attack(
      'a record of another policy number',
      'record.format',
      event('c0', record({ valid_until: '0000-00-00T00:00:00.000Z' })),
    ),
  ];
}
