import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64 } from '../../../schemas/crypto/encoding.js';
import { LEDGER_KEY_ANNOUNCED } from '../../../schemas/events/ledger-key.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { LEDGER_KEY, NEXT_LEDGER_KEY, ORIGIN } from '../../support/ledger-fixture.js';
import type { PackageHooks } from '../../support/package-builder.js';
import { signedNote, type TestSigningKey, testSigningKey } from '../../support/signing-key.js';
import { verifierKey } from '../support.js';
import { type Attack, attack, doubt, FLIPPED, strings } from './attack.js';

function announcing(...announcements: readonly (readonly [batch: number, key: TestSigningKey])[]) {
  return announcements.map(([batch, { verifierKey: line }]) => ({ batch, keys: [line] }));
}

const isAnnouncement = (entry: unknown): boolean => String(entry).includes(LEDGER_KEY_ANNOUNCED);

/** Checkpoints, keys and consistency. */
export function ledgerAttacks(): Attack[] {
  const other = testSigningKey(ORIGIN, 'made up');
  const elsewhere = testSigningKey('other.example', 'ledger key');
  const atSize = (size: number, change: (note: string, text: string) => string): PackageHooks => ({
    note: (note, at, text) => (at === size ? change(note, text) : note),
  });
  return [
    doubt('a made-up ledger with a genuine time stamp', 'ledger.key', { ledgerKey: other }),
    doubt('no ledger key given', 'ledger.key', {}, { ledgerKeys: [] }),
    doubt('a made-up ledger and no ledger key given', 'ledger.key', { ledgerKey: other }, { ledgerKeys: [] }),
    attack('the key of another ledger given', 'ledger.key', {}, { ledgerKeys: [verifierKey(elsewhere.verifierKey)] }),
    attack(
      'a checkpoint signed by another key',
      'ledger.key',
      atSize(2, (_, text) => signedNote(text, other)),
    ),
    attack(
      'a checkpoint with a wrong signature',
      'ledger.key',
      atSize(2, (_, text) => `${text}\n${LEDGER_KEY.signatureLine('something else\n')}`),
    ),
    attack(
      'a checkpoint with two signatures by one key',
      'ledger.key',
      atSize(2, (note, text) => `${note}${LEDGER_KEY.signatureLine(text)}`),
    ),
    attack(
      'a checkpoint with a wrong key hint',
      'ledger.key',
      atSize(2, (_, text) => `${text}\n— ${ORIGIN} ${toBase64(new Uint8Array(68))}\n`),
    ),
    attack(
      'a checkpoint without a signature',
      'ledger.checkpoint',
      atSize(2, (_, text) => text),
    ),
    attack(
      'a checkpoint without an origin',
      'ledger.checkpoint',
      atSize(2, (_, text) => signedNote(text.replace(ORIGIN, ''), LEDGER_KEY)),
    ),
    attack('a checkpoint of another origin', 'ledger.checkpoint', {
      checkpoint: (one) => (one.size === 2 ? { ...one, origin: 'other.example' } : one),
    }),
    attack(
      'a checkpoint without a root',
      'ledger.checkpoint',
      atSize(2, () => signedNote(`${ORIGIN}\n2\n`, LEDGER_KEY)),
    ),
    attack(
      'a checkpoint with an extension line',
      'ledger.checkpoint',
      atSize(2, (_, text) => signedNote(`${text}next-key ${NEXT_LEDGER_KEY.verifierKey}\n`, LEDGER_KEY)),
    ),
    attack(
      'a checkpoint with a leading zero',
      'ledger.checkpoint',
      atSize(2, (_, text) => signedNote(text.replace('\n2\n', '\n02\n'), LEDGER_KEY)),
    ),
    attack('a checkpoint with a doubled size', 'ledger.checkpoint', {
      checkpoint: (one) => (one.size === 2 ? { ...one, size: 4 } : one),
    }),
    attack('a checkpoint with another root', 'ledger.consistency', {
      checkpoint: (one) => (one.size === 2 ? { ...one, root: sha256() } : one),
    }),
    attack('a rewritten newest checkpoint', 'batch.inclusion', {
      checkpoint: (one) => (one.size === 5 ? { ...one, root: sha256() } : one),
    }),
    attack('a consistency proof with one hash changed', 'ledger.consistency', {
      consistencyLines: (lines) => lines.map((one) => ({ ...one, path: strings(one.path).map(FLIPPED) })),
    }),
    attack('a consistency proof that skips a checkpoint', 'ledger.consistency', {
      consistencyLines: (lines) => lines.map((one, i) => (i === 0 ? { ...one, to: 4 } : one)),
    }),
    doubt('a consistency proof that is missing', 'ledger.consistency', { consistencyLines: (lines) => lines.slice(1) }),
    doubt('no consistency proof at all', 'ledger.consistency', { consistencyLines: () => [] }),
    attack('a checkpoint that is missing', 'ledger.checkpoint', {
      files: (files) => void files.delete(PACKAGE_FILES.note(4)),
    }),
    attack('a newest checkpoint that the manifest does not name', 'ledger.checkpoint', {
      manifest: (one) => ({ ...one, checkpoint: 4 }),
    }),
    attack('a next key that the first checkpoint over its announcement lacks', 'ledger.announcement', {
      rotateAt: 4,
      note: (note, size, text) => (size === 4 ? signedNote(text, LEDGER_KEY) : note),
    }),
    attack('an announcement whose first checkpoint only the new key signed', 'ledger.key', {
      rotateAt: 4,
      note: (note, size, text) => (size === 4 ? signedNote(text, NEXT_LEDGER_KEY) : note),
    }),
    attack('an announcement after the first checkpoint of the new key', 'ledger.key', {
      rotateAt: 4,
      announcements: announcing([4, NEXT_LEDGER_KEY]),
      note: (note, size, text) => (size === 4 ? signedNote(text, NEXT_LEDGER_KEY) : note),
    }),
    attack('an announcement after a checkpoint that both keys signed', 'ledger.key', {
      rotateAt: 4,
      announcements: announcing([4, NEXT_LEDGER_KEY]),
    }),
    attack('a next key without an announcement', 'ledger.key', { rotateAt: 4, announcements: [] }),
    attack('an announcement that is left out', 'completeness.policies', {
      rotateAt: 4,
      entryLines: (lines) => lines.filter(({ entry }) => !isAnnouncement(entry)),
    }),
    attack('an announcement of another key than the sealed one', 'ledger.announcement', {
      rotateAt: 4,
      entryLines: (lines) =>
        lines.map((line) =>
          isAnnouncement(line.entry)
            ? { ...line, entry: String(line.entry).replace(NEXT_LEDGER_KEY.verifierKey, other.verifierKey) }
            : line,
        ),
    }),
    attack('an announcement at a place where another entry is', 'entry.inclusion', {
      rotateAt: 4,
      entryLines: (lines) => lines.map((line) => (isAnnouncement(line.entry) ? { ...line, batch: 1 } : line)),
    }),
    attack('an announcement of a key of another ledger', 'ledger.announcement', {
      rotateAt: 4,
      announcements: announcing([3, elsewhere]),
    }),
    attack('an announcement with white space around a key', 'ledger.announcement', {
      rotateAt: 4,
      announcements: [{ batch: 3, keys: [` ${NEXT_LEDGER_KEY.verifierKey}`] }],
    }),
    attack('two announcements of one key', 'ledger.announcement', {
      rotateAt: 4,
      announcements: announcing([2, NEXT_LEDGER_KEY], [3, NEXT_LEDGER_KEY]),
    }),
    attack('an announcement by a retired key', 'ledger.announcement', {
      rotateAt: 2,
      announcements: announcing([1, NEXT_LEDGER_KEY], [3, other]),
      note: (note, size, text) =>
        size === 4 ? signedNote(text, LEDGER_KEY, other) : size === 5 ? signedNote(text, other) : note,
    }),
    attack(
      'a next key that signs before its announcement, with that key given',
      'ledger.key',
      { rotateAt: 4, note: (note, size, text) => (size === 2 ? signedNote(text, NEXT_LEDGER_KEY) : note) },
      { ledgerKeys: [verifierKey(NEXT_LEDGER_KEY.verifierKey)] },
    ),
    attack('a retired key that signs an older checkpoint alone', 'ledger.key', {
      rotateAt: 2,
      note: (note, size, text) => (size === 4 ? signedNote(text, LEDGER_KEY) : note),
    }),
    attack('a retired key that signs on', 'ledger.key', {
      rotateAt: 4,
      note: (note, size, text) => (size === 5 ? signedNote(text, LEDGER_KEY) : note),
    }),
    attack('a manifest key that only the retired key of the ledger certifies', 'manifest.certificate', {
      rotateAt: 2,
      manifestKey: other,
      certificate: (note) => signedNote(note.slice(0, note.indexOf('\n\n') + 1), LEDGER_KEY),
    }),
    attack(
      'a manifest key that the retired key certifies, with both keys given',
      'manifest.certificate',
      {
        rotateAt: 2,
        manifestKey: other,
        certificate: (note) => signedNote(note.slice(0, note.indexOf('\n\n') + 1), LEDGER_KEY),
      },
      { ledgerKeys: [LEDGER_KEY, NEXT_LEDGER_KEY].map(({ verifierKey: line }) => verifierKey(line)) },
    ),
    attack('a manifest key that the old key certifies at the checkpoint of both keys', 'manifest.certificate', {
      rotateAt: 5,
      certificate: (note) => signedNote(note.slice(0, note.indexOf('\n\n') + 1), LEDGER_KEY),
    }),
    doubt('a key that a stranger announces', 'ledger.key', { ledgerKey: other, rotateAt: 4 }),
  ];
}
