import { describe, expect, test } from 'vitest';
import { sha256 } from '../../schemas/crypto/digest.js';
import { toBase64 } from '../../schemas/crypto/encoding.js';
import {
  type Checkpoint,
  checkpointText,
  manifestKeyText,
  parseCheckpoint,
  parseManifestKeyText,
} from '../../schemas/evidence/checkpoint.js';
import { formatNote, parseNote, parseVerifierKey } from '../../schemas/evidence/signed-note.js';
import { verifyNote } from '../../schemas/evidence/verify-note.js';
import { signedNote, testSigningKey } from '../support/signing-key.js';
import { verifierKey } from '../verifier/support.js';

const key = testSigningKey('ledger.example', 'one');
const other = testSigningKey('ledger.example', 'two');
const TEXT = 'ledger.example\n7\nroot\n';

function note(text: string) {
  const parsed = parseNote(text);
  if (parsed === null) throw new Error('not a note');
  return parsed;
}

describe('verifier keys', () => {
  test('the published example of the Go sumdb note package', () => {
    const parsed = parseVerifierKey('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW');
    expect(parsed?.name).toBe('PeterNeumann');
    expect(parsed?.publicKey).toHaveLength(32);
  });

  test.each([
    ['another id', key.verifierKey.replace(/\+[0-9a-f]{8}\+/, '+00000000+')],
    ['no name', key.verifierKey.replace('ledger.example', '')],
    ['a name with a space', key.verifierKey.replace('ledger.', 'ledger ')],
    ['an id in upper case', key.verifierKey.replace(/\+[0-9a-f]{8}\+/, (id) => id.toUpperCase())],
    ['another algorithm', `x+00000000+${toBase64(new Uint8Array(33))}`],
    ['a short key', `x+00000000+${toBase64(Uint8Array.of(1, 2))}`],
    ['nothing', ''],
  ])('%s is refused', (_, line) => {
    if (line === key.verifierKey) return;
    expect(parseVerifierKey(line)).toBeNull();
  });
});

describe('signed notes', () => {
  test('the published example of the Go sumdb note package', async () => {
    const text =
      "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
    const example = `${text}\n— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n`;
    const neumann = verifierKey('PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW');
    expect(await verifyNote(note(example), neumann)).toBe('signed');
    expect(await verifyNote(note(example.replace('answer', 'reason')), neumann)).toBe('bad-signature');
  });

  test('a note is verified by the key that signed it, unknown signatures beside it or not', async () => {
    const text = signedNote(TEXT, other, key);
    expect(await verifyNote(note(text), verifierKey(key.verifierKey))).toBe('signed');
    expect(await verifyNote(note(signedNote(TEXT, other)), verifierKey(key.verifierKey))).toBe(
      'no-signature-by-this-key',
    );
  });

  test('a wrong or second signature by the key is fatal', async () => {
    const trusted = verifierKey(key.verifierKey);
    expect(await verifyNote(note(formatNote(TEXT, [key.signatureLine('other\n')])), trusted)).toBe('bad-signature');
    expect(await verifyNote(note(signedNote(TEXT, key, key)), trusted)).toBe('bad-signature');
    expect(await verifyNote(note(signedNote(TEXT, key).replace('\n7\n', '\n8\n')), trusted)).toBe('bad-signature');
  });

  test('a text may hold empty lines: the last one divides', () => {
    expect(note(signedNote('a\n\nb\n', key)).text).toBe('a\n\nb\n');
  });

  const signed = signedNote(TEXT, key);
  test.each([
    ['no signature', `${TEXT}\n`],
    ['no empty line', TEXT],
    ['no last line feed', signed.slice(0, -1)],
    ['a hyphen for the dash', signed.replace('—', '-')],
    ['a carriage return', signed.replace('\n', '\r\n')],
    ['a control character', signed.replace('root', 'ro\u0007t')],
    ['a signature that is no base64', signed.replace(/.\n$/, '!\n')],
    ['a signature without a key id', `${TEXT}\n— ledger.example AAAA\n`],
    ['two spaces', signed.replace('— ', '—  ')],
    [
      '257 signatures',
      formatNote(
        TEXT,
        Array.from({ length: 257 }, () => key.signatureLine(TEXT)),
      ),
    ],
    ['an empty line among signatures', `${signed}\n`],
  ])('%s: no note', (_, text) => expect(parseNote(text)).toBeNull());
});

describe('checkpoints', () => {
  const root = sha256();
  const checkpoint: Checkpoint = { origin: 'ledger.example', size: 7, root };
  const text = checkpointText(checkpoint);

  test.each([0, 1, 7, 2 ** 53 - 1])('size %d comes back', (size) => {
    expect(parseCheckpoint(checkpointText({ ...checkpoint, size }))).toEqual({ ...checkpoint, size });
  });

  test('extension lines of other logs are ignored', () =>
    expect(parseCheckpoint(`${text}anything 1\n`)).toEqual(checkpoint));

  test.each([
    ['no origin', text.replace('ledger.example', '')],
    ['a leading zero', text.replace('\n7\n', '\n07\n')],
    ['a sign', text.replace('\n7\n', '\n+7\n')],
    ['a negative size', text.replace('\n7\n', '\n-7\n')],
    ['a size of 2^53', text.replace('\n7\n', '\n9007199254740992\n')],
    ['a size in another notation', text.replace('\n7\n', '\n7e0\n')],
    ['no root', 'ledger.example\n7\n'],
    ['a short root', `ledger.example\n7\n${toBase64(root.slice(1))}\n`],
    ['a root in base64url', `ledger.example\n7\n${toBase64(root).replaceAll('/', '_').replaceAll('+', '-')}\n`],
    ['no last line feed', text.slice(0, -1)],
    ['an empty extension line', `${text}\n`],
  ])('%s: no checkpoint', (_, malformed) => {
    expect(malformed).not.toBe(text);
    expect(parseCheckpoint(malformed)).toBeNull();
  });

  test('a certificate of a manifest key is no checkpoint, nor the other way round', () => {
    const certificate = manifestKeyText('ledger.example', key.publicKey);
    expect(parseManifestKeyText(certificate)).toEqual({ origin: 'ledger.example', publicKey: key.publicKey });
    expect(parseCheckpoint(certificate)).toBeNull();
    expect(parseManifestKeyText(text)).toBeNull();
    expect(parseManifestKeyText(`${certificate}more\n`)).toBeNull();
    expect(parseManifestKeyText(certificate.slice(0, -1))).toBeNull();
  });
});
