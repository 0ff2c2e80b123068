import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64, toBase64url, toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { LEDGER_KEY, ORIGIN } from '../../support/ledger-fixture.js';
import { fixtureUuid } from '../../support/ledger-fixture-events.js';
import type { Files } from '../../support/package-builder.js';
import { signedNote, testSigningKey } from '../../support/signing-key.js';
import { type Attack, attack, ENTRIES, edit, notByScript, replaced, zipFile } from './attack.js';

/** The ZIP, the manifest and its signature. */
export function containerAttacks(): Attack[] {
  const stranger = testSigningKey(ORIGIN, 'stranger');
  const named = (name: string, content = utf8('x')) => ({
    signedFiles: (files: Files) => void files.set(name, content),
  });
  return [
    attack('a file that is not listed', 'manifest.files', named(PACKAGE_FILES.notice(toHex(sha256(utf8('x')))))),
    attack('a file with an unknown name', 'container.names', named('extra.html')),
    attack('a file that climbs out', 'container.names', named('../evil')),
    attack('a file with an absolute name', 'container.names', named('/etc/passwd')),
    attack('a file with a backslash in its name', 'container.names', named('notices\\x')),
    attack('a folder', 'container.names', named('notices/', new Uint8Array())),
    attack('a name with a bidi override', 'container.names', named('README\u202etxt')),
    attack('names that differ in case', 'container.names', named('readme.TXT')),
    attack('names that differ in Unicode form', 'container.names', named('README\uff0etxt')),
    attack('the same name twice', 'container.names', {
      zipFiles: (files) => [...files, ...files.filter(({ name }) => name === ENTRIES)],
    }),
    attack(
      'a link',
      'container.structure',
      zipFile('README.txt', (file) => Object.assign(file, { central: { attributes: 0o120777 * 0x10000 } })),
    ),
    attack(
      'a local header with another name',
      'container.structure',
      zipFile(ENTRIES, (file) => Object.assign(file, { local: { name: 'batches.ndjsoo' } })),
    ),
    attack(
      'a local header with another size',
      'container.structure',
      zipFile(ENTRIES, (file) => Object.assign(file, { local: { size: 7 } })),
    ),
    attack(
      'a local header with another CRC',
      'container.structure',
      zipFile(ENTRIES, (file) => Object.assign(file, { local: { crc: 7 } })),
    ),
    attack(
      'a local header with another method',
      'container.structure',
      zipFile(ENTRIES, (file) => Object.assign(file, { local: { method: 0 } })),
    ),
    attack(
      'an encrypted file',
      'container.structure',
      zipFile(ENTRIES, (file) => Object.assign(file, { central: { flags: 0x0801 } })),
    ),
    attack(
      'an unknown compression method',
      'container.structure',
      zipFile(ENTRIES, (file) => Object.assign(file, { central: { method: 12 } })),
    ),
    attack(
      'a file comment',
      'container.structure',
      zipFile(ENTRIES, (file) => Object.assign(file, { central: { comment: 'hi' } })),
    ),
    attack(
      'an unknown extra field',
      'container.structure',
      zipFile(ENTRIES, (file) => Object.assign(file, { central: { extra: new Uint8Array([0x75, 0x70, 0, 0]) } })),
    ),
    attack(
      'bytes between two files',
      'container.structure',
      zipFile(ENTRIES, (file) => Object.assign(file, { before: utf8('hidden') })),
    ),
    attack('files that overlap', 'container.structure', {
      zipFiles: (files) => [
        ...files,
        {
          name: PACKAGE_FILES.attachment('a'.repeat(64)),
          content: files[0]?.content ?? new Uint8Array(),
          sharesDataOf: 0,
        },
      ],
    }),
    attack('bytes behind the end', 'container.structure', { zip: (zip) => new Uint8Array([...zip, 1, 2, 3]) }),
    notByScript(
      'the limits of the format',
      attack('a bomb', 'container.limits', {
        zipFiles: (files) => [
          ...files,
          { name: PACKAGE_FILES.attachment('a'.repeat(64)), content: new Uint8Array(2_000_000), deflate: true },
        ],
      }),
    ),
    attack(
      'a file that unpacks to more than stated',
      'container.content',
      zipFile(ENTRIES, (file) => Object.assign(file, { central: { size: 10 }, local: { size: 10 } })),
    ),
    attack(
      'a file with a wrong CRC',
      'container.content',
      zipFile(ENTRIES, (file) => Object.assign(file, { central: { crc: 10 }, local: { crc: 10 } })),
    ),
    attack(
      'packed data that are malformed',
      'container.content',
      zipFile(ENTRIES, (file) => Object.assign(file, { packed: (data: Uint8Array) => data.fill(0xff, 10, 20) })),
    ),
    attack(
      'bytes behind packed data',
      'container.content',
      zipFile(ENTRIES, (file) =>
        Object.assign(file, { packed: (data: Uint8Array) => new Uint8Array([...data, 1, 2]) }),
      ),
    ),
    attack('a file that is missing', 'manifest.files', { signedFiles: (files) => void files.delete('README.txt') }),
    attack('entries that are missing', 'manifest.files', { signedFiles: (files) => void files.delete(ENTRIES) }),
    attack('a README that was changed', 'manifest.files', { signedFiles: edit('README.txt', () => utf8('Trust me.')) }),
    attack('a manifest of a lower version', 'manifest.format', { manifest: (one) => ({ ...one, version: 0 }) }),
    attack('a manifest of a higher version', 'manifest.format', { manifest: (one) => ({ ...one, version: 2 }) }),
    attack('a manifest with an unknown field', 'manifest.format', { manifest: (one) => ({ ...one, valid: true }) }),
    attack('a manifest that is no JSON', 'manifest.format', { signedFiles: edit('manifest.json', () => utf8('{')) }),
    attack('a manifest with a key twice', 'manifest.format', {
      signedFiles: edit('manifest.json', (bytes) => replaced(bytes, '{', '{"version":1,')),
    }),
    attack('a manifest that was changed', 'manifest.signature', {
      signedFiles: edit('manifest.json', (bytes) => replaced(bytes, 'owner@', 'other@')),
    }),
    attack('a manifest without its signature', 'manifest.signature', {
      signedFiles: (files) => void files.delete('manifest.json.jws'),
    }),
    attack('a signature with algorithm none', 'manifest.signature', {
      signatureHeader: (header) => ({ ...header, alg: 'none' }),
    }),
    attack('a signature with an unknown critical header', 'manifest.signature', {
      signatureHeader: (header) => ({ ...header, crit: ['x'] }),
    }),
    attack('a signature by another key than it names', 'manifest.signature', {
      signatureHeader: (header) => ({
        ...header,
        jwk: { kty: 'OKP', crv: 'Ed25519', x: toBase64url(stranger.publicKey) },
      }),
    }),
    attack('a manifest key that only a stranger certifies', 'manifest.certificate', {
      manifestKey: stranger,
      certificate: (note) => signedNote(note.slice(0, note.indexOf('\n\n') + 1), stranger),
    }),
    attack('a certificate of another key', 'manifest.certificate', {
      manifestKey: stranger,
      certificate: (note) => note.replace(toBase64(stranger.publicKey), toBase64(LEDGER_KEY.publicKey)),
    }),
    attack('a checkpoint offered as a certificate', 'manifest.certificate', {
      certificate: () => signedNote(`${ORIGIN}\n5\n${toBase64(sha256())}\n`, LEDGER_KEY),
    }),
    attack('a count that is wrong', 'manifest.counts', {
      manifest: (one) => ({ ...one, counts: { ...one.counts, consents: 7 } }),
    }),
    attack('values of records that the filter does not ask for', 'manifest.filter', {
      manifest: (one) => ({ ...one, filter: { ...one.filter, consent_type: 'nothing' } }),
    }),
    attack('values of records from outside the time asked for', 'manifest.filter', {
      manifest: (one) => ({ ...one, filter: { ...one.filter, from: '2030-01-01T00:00:00.000Z' } }),
    }),
    attack('values of records that were not chosen', 'manifest.filter', {
      manifest: (one) => ({ ...one, filter: { ...one.filter, event_ids: [fixtureUuid('c0')] } }),
    }),
    attack('values of fields that were not asked for', 'manifest.filter', {
      manifest: (one) => ({ ...one, filter: { ...one.filter, disclose: ['visitor_id'] } }),
    }),
    attack('values although none were asked for', 'manifest.filter', {
      manifest: (one) => ({ ...one, filter: { ...one.filter, disclose: 'none' } }),
    }),
    attack('a package made before its own time stamps', 'time.claimed', {
      manifest: (one) => ({ ...one, exported_at: '2026-03-01T10:40:00.000Z' }),
    }),
    attack('a manifest that lists an attachment', 'manifest.files', {
      files: (files) => void files.set('README.txt', utf8([...files.keys()].join('\n'))),
      manifest: (one) => ({
        ...one,
        files: { ...one.files, [PACKAGE_FILES.attachment('a'.repeat(64))]: 'a'.repeat(64) },
      }),
    }),
  ];
}
