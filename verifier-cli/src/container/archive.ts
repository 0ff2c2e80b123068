import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { englishText, type Finding, finding } from '../findings/finding.js';
import type { Findings } from '../findings/findings.js';
import type { ByteSource } from './byte-source.js';
import { type DirectoryEntry, METHOD_DEFLATED, readCentralDirectory } from './central-directory.js';
import { crc32 } from './crc32.js';
import { readEndRecord } from './end-record.js';
import { inflateRaw } from './inflate.js';
import { LIMITS } from './limits.js';
import { readExtent } from './local-header.js';
import { acceptName } from './names.js';

/** A file of the package. */
export interface ArchiveFile {
  readonly name: string;
  readonly size: number;
  readonly packedSize: number;
  readonly crc: number;
  readonly isDeflated: boolean;
  readonly dataStart: number;
}

/** The package's files. All names are known, and each occurs once. */
export type Archive = ReadonlyMap<string, ArchiveFile>;

/** A ZIP that was opened. */
interface OpenedArchive {
  /** The files that can be read in spite of failed checks. */
  readonly archive: Archive;
  /** Whether the container lists a manifest, which may be unreadable. */
  readonly hasManifest: boolean;
}

const READ_BYTES = 256 * 1024;
/** Signature of a local header (APPNOTE 4.3.7), as bytes. */
const LOCAL_HEADER = [0x50, 0x4b, 0x03, 0x04];

/** Returns whether a file that cannot be opened begins like a ZIP, for example after an interrupted download. */
export async function startsAsZip(source: ByteSource): Promise<boolean> {
  if (source.size < LOCAL_HEADER.length) return false;
  const start = await source.read(0, LOCAL_HEADER.length);
  return LOCAL_HEADER.every((byte, i) => start[i] === byte);
}

/**
 * Opens a ZIP and checks its structure, names and limits (docs/evidence-format.md §3, §14).
 * @returns null if the bytes cannot be opened as a ZIP at all
 */
export async function openArchive(source: ByteSource, findings: Findings): Promise<OpenedArchive | null> {
  const end = await readEndRecord(source);
  if (end === null || end.directoryOffset + end.directorySize > end.start) return null;
  if (end.entries > LIMITS.files || end.directorySize > LIMITS.centralDirectoryBytes) {
    findings.fail('container.limits', finding('too-many-files', { files: end.entries, limit: LIMITS.files }));
    return { archive: new Map(), hasManifest: false };
  }
  const directory = readCentralDirectory(await source.read(end.directoryOffset, end.directorySize), end.entries);
  if (directory === null) return null;
  for (const problem of end.problems) findings.fail('container.structure', problem);
  if (directory.used !== end.directorySize || end.directoryOffset + end.directorySize !== end.start) {
    findings.fail('container.structure', finding('bytes-beside-directory'));
  }
  return {
    archive: await layOut(source, directory.entries, end.directoryOffset, findings),
    hasManifest: directory.entries.some(({ name }) => name === PACKAGE_FILES.manifest),
  };
}

async function layOut(
  source: ByteSource,
  entries: readonly DirectoryEntry[],
  directoryOffset: number,
  findings: Findings,
): Promise<Archive> {
  const files = new Map<string, ArchiveFile>();
  const names = new Set<string>();
  let expected = 0;
  let total = 0;
  for (const entry of [...entries].sort((a, b) => a.headerOffset - b.headerOffset)) {
    const at = { file: entry.name };
    for (const problem of entry.problems) findings.fail('container.structure', problem, at);
    const extent = await readExtent(source, entry, directoryOffset);
    for (const problem of extent?.problems ?? []) findings.fail('container.structure', problem, at);
    const isOverlapping = entry.headerOffset < expected;
    if (isOverlapping) findings.fail('container.structure', finding('file-overlaps'), at);
    else if (entry.headerOffset > expected) {
      findings.fail('container.structure', finding('bytes-before-file'), at);
    }
    if (extent !== null) expected = Math.max(expected, extent.end);
    total += entry.size;
    if (!isAcceptedName(entry.name, names, findings) || !isWithinLimits(entry, total, findings)) continue;
    // If files overlapped, a small package could take forever to read.
    if (isOverlapping) continue;
    if (extent === null) {
      findings.fail('container.structure', finding('data-missing'), at);
      continue;
    }
    findings.pass('container.structure');
    files.set(entry.name, {
      name: entry.name,
      size: entry.size,
      packedSize: entry.packedSize,
      crc: entry.crc,
      isDeflated: entry.method === METHOD_DEFLATED,
      dataStart: extent.dataStart,
    });
  }
  if (expected !== directoryOffset) {
    findings.fail('container.structure', finding('bytes-before-directory'));
  }
  return files;
}

function isAcceptedName(name: string, names: Set<string>, findings: Findings): boolean {
  const isDuplicate = names.has(name);
  names.add(name);
  if (!isDuplicate) return acceptName(name, finding('evidence-package'), findings);
  findings.fail('container.names', finding('names-collide'), {
    file: name,
  });
  return false;
}

function isWithinLimits(entry: DirectoryEntry, total: number, findings: Findings): boolean {
  const isBomb = entry.size > LIMITS.ratioFloor && entry.size > entry.packedSize * LIMITS.ratio;
  if (entry.size > LIMITS.fileBytes || total > LIMITS.totalBytes || isBomb) {
    findings.fail('container.limits', finding('file-exceeds-limits'), {
      file: entry.name,
    });
    return false;
  }
  findings.pass('container.limits');
  return true;
}

/**
 * The content of a file, unpacked, in pieces.
 * @throws Error if the packed data are malformed, or their size or CRC differs from the directory; earlier pieces have
 *   been delivered by then
 */
export async function* contentOf(source: ByteSource, file: ArchiveFile): AsyncGenerator<Uint8Array, void> {
  let size = 0;
  let crc = 0;
  const pieces = file.isDeflated ? deflated(source, file) : packedPieces(source, file);
  for await (const piece of pieces) {
    size += piece.length;
    if (size > file.size) throw new ContentMismatch(finding('too-many-bytes'));
    crc = crc32(piece, crc);
    yield piece;
  }
  if (size !== file.size) throw new ContentMismatch(finding('too-few-bytes'));
  if (crc !== file.crc) throw new ContentMismatch(finding('crc-differs'));
}

/** The content of a file differs from what the directory says. */
export class ContentMismatch extends Error {
  override readonly name = 'ContentMismatch';

  constructor(readonly found: Finding) {
    super(englishText(found));
  }
}

async function* deflated(source: ByteSource, file: ArchiveFile): AsyncGenerator<Uint8Array, void> {
  const pieces = inflateRaw(packedPieces(source, file));
  while (true) {
    const next = await pieces.next().catch(() => {
      throw new ContentMismatch(finding('compressed-malformed'));
    });
    if (next.done !== true) {
      yield next.value;
      continue;
    }
    if (next.value !== file.packedSize) throw new ContentMismatch(finding('bytes-after-data'));
    return;
  }
}

async function* packedPieces(source: ByteSource, file: ArchiveFile): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < file.packedSize; at += READ_BYTES) {
    yield await source.read(file.dataStart + at, Math.min(READ_BYTES, file.packedSize - at));
  }
}
