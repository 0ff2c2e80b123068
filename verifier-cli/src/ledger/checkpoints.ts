import { decodeUtf8 } from '../../../schemas/crypto/encoding.js';
import { type Checkpoint, checkpointText, parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import type { Manifest } from '../../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { parseNote, type SignedNote } from '../../../schemas/evidence/signed-note.js';
import { LIMITS } from '../container/limits.js';
import type { PackageFiles } from '../files/package-files.js';
import { type Finding, finding } from '../findings/finding.js';

/** A checkpoint that the package encloses. */
export interface EnclosedCheckpoint {
  readonly file: string;
  /** The exact bytes that are stamped. */
  readonly bytes: Uint8Array;
  readonly note: SignedNote;
  readonly checkpoint: Checkpoint;
}

/** Checkpoints by size, smallest first. */
export type Checkpoints = ReadonlyMap<number, EnclosedCheckpoint>;

/**
 * Reads the checkpoints (docs/evidence-format.md §7). Checks their form, size against the file's name, origin against
 * the manifest's, and that the manifest's own is the newest.
 */
export async function readCheckpoints(files: PackageFiles, manifest: Manifest | null): Promise<Checkpoints> {
  const { findings } = files;
  const found = new Map<number, EnclosedCheckpoint>();
  const sizes = sizesOf(files);
  if (sizes.length > LIMITS.checkpoints) {
    findings.fail('container.limits', finding('too-many-checkpoints', { limit: LIMITS.checkpoints }));
  }
  let total = 0;
  for (const size of sizes.slice(0, LIMITS.checkpoints)) {
    const file = PACKAGE_FILES.note(size);
    const bytes = await files.bytes(file, LIMITS.noteBytes);
    total += bytes?.length ?? 0;
    if (total > LIMITS.notesBytes) {
      findings.fail('container.limits', finding('checkpoints-too-large', { limit: LIMITS.notesBytes }), {
        file,
      });
      break;
    }
    const problem = bytes === null ? finding('file-unreadable') : readOne(size, file, bytes, manifest, found);
    if (problem === null) findings.pass('ledger.checkpoint');
    else findings.fail('ledger.checkpoint', problem, { file });
  }
  const noted = new Set(sizes);
  for (const file of files.archive.keys()) {
    const [, digits] = /^checkpoints\/(\d+)\.\d\.tsr$/.exec(file) ?? [];
    if (digits !== undefined && !noted.has(Number(digits)))
      findings.fail('ledger.checkpoint', finding('stamped-checkpoint-missing'), { file });
  }
  if (manifest === null) return found;
  if (manifest.checkpoint === null) {
    if (sizes.length > 0) findings.fail('ledger.checkpoint', finding('checkpoint-not-named'));
    else findings.open('ledger.checkpoint', finding('no-time-stamp-yet'));
  } else if (sizes.at(-1) !== manifest.checkpoint) {
    findings.fail('ledger.checkpoint', finding('newest-checkpoint-differs'), {
      file: PACKAGE_FILES.note(manifest.checkpoint),
    });
  }
  return found;
}

function readOne(
  size: number,
  file: string,
  bytes: Uint8Array,
  manifest: Manifest | null,
  found: Map<number, EnclosedCheckpoint>,
): Finding | null {
  const text = decodeUtf8(bytes);
  const note = text === null ? null : parseNote(text);
  const checkpoint = note === null ? null : parseCheckpoint(note.text);
  if (note === null || checkpoint === null || note.text !== checkpointText(checkpoint))
    return finding('not-a-checkpoint');
  found.set(size, { file, bytes, note, checkpoint });
  if (checkpoint.size !== size) return finding('checkpoint-other-size', { size: checkpoint.size });
  if (manifest !== null && checkpoint.origin !== manifest.origin) return finding('checkpoint-of-other-ledger');
  return null;
}

/** The sizes for which there is a note, smallest first. */
function sizesOf(files: PackageFiles): readonly number[] {
  const sizes: number[] = [];
  for (const name of files.archive.keys()) {
    const [, digits] = /^checkpoints\/(\d+)\.note$/.exec(name) ?? [];
    if (digits !== undefined && Number.isSafeInteger(Number(digits))) sizes.push(Number(digits));
  }
  return sizes.sort((a, b) => a - b);
}
