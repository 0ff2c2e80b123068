import type { ProvedEntryFile } from '../../../schemas/evidence/contradiction.js';
import { Entry } from '../../../schemas/evidence/entry.js';
import { EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { PackageFiles } from '../files/package-files.js';
import { parseShape } from '../files/parse.js';
import { proofOfEntryIn } from '../ledger/proved-entry.js';
import type { History } from './history.js';

interface Place {
  readonly line: EntryLine;
  readonly stream: string;
  readonly revision: number;
}

/** Number of positions that both packages show, as far as they have been walked. */
export interface Tally {
  compared: number;
}

/**
 * Walks the entries of two packages side by side, in bounded memory: both are sorted by stream and
 * revision.
 * @returns pairs of different entries with one stream and revision
 */
export async function* entryConflicts(
  a: PackageFiles,
  b: PackageFiles,
  tally: Tally,
): AsyncGenerator<readonly [EntryLine, EntryLine], void> {
  const left = placesOf(a);
  const right = placesOf(b);
  try {
    let one = await left.next();
    let other = await right.next();
    while (one.done !== true && other.done !== true) {
      const order = compare(one.value, other.value);
      if (order === 0) {
        tally.compared += 1;
        if (one.value.line.entry !== other.value.line.entry) yield [one.value.line, other.value.line];
      }
      if (order <= 0) one = await left.next();
      if (order >= 0) other = await right.next();
    }
  } finally {
    await left.return();
    await right.return();
  }
}

async function* placesOf(files: PackageFiles): AsyncGenerator<Place, void> {
  for await (const { value } of files.lines(PACKAGE_FILES.entries, EntryLine, 'entry.format')) {
    const entry = parseShape(Entry, value.entry);
    if (entry.ok) yield { line: value, stream: entry.value.stream, revision: entry.value.revision };
  }
}

function compare(a: Place, b: Place): number {
  if (a.stream !== b.stream) return a.stream < b.stream ? -1 : 1;
  return a.revision - b.revision;
}

/**
 * Collects the proof that an entry of a package is in the ledger of its newest checkpoint, or null if something is
 * missing.
 */
export async function proofOfEntry(
  { newest, batches, files }: History,
  line: EntryLine,
): Promise<ProvedEntryFile | null> {
  const batch = batches.get(line.batch);
  return files === null || batch === undefined ? null : proofOfEntryIn(files, newest.note, batch, line);
}
