import { type FileHandle, mkdir, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as z from 'zod';
import { decodeUtf8, utf8 } from '../../schemas/crypto/encoding.js';
import { ERASURE_REASONS } from '../../schemas/events/subject-erased.js';
import { Uuid } from '../../schemas/evidence/primitives.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import { syncFolder } from '../platform/files.js';

/** The site does not exist. */
export class UnknownSite extends Error {
  override readonly name = 'UnknownSite';
  constructor(readonly siteId: string) {
    super(`There is no site ${siteId}.`);
  }
}

/**
 * The erasure journal cannot be written or read. Nothing is erased then, because a restore could bring the data back.
 */
export class JournalUnavailable extends Error {
  override readonly name = 'JournalUnavailable';
}

/**
 * A line of the erasure journal: the data that one transaction destroyed. It contains only random ids, no personal
 * data.
 */
export const JournalLine = z.strictObject({
  v: z.literal(1),
  /** Null if only tokens were deleted. */
  erased: z
    .strictObject({
      site_id: Uuid,
      reason: z.enum(ERASURE_REASONS),
      /** Event ids of the records whose keys were destroyed. */
      event_ids: z.array(Uuid).min(1),
    })
    .nullable(),
  /** Ids of deleted approval tokens and person tokens. */
  approval_tokens: z.array(z.string().regex(/^[ap]tk_[A-Za-z0-9_-]{1,60}$/)),
  /** Ids of deleted test records. Absent if there are none. */
  test_records: z.array(Uuid).exactOptional(),
});
export type JournalLine = z.infer<typeof JournalLine>;

/** Encodes a line as canonical JSON (RFC 8785), without the line feed. */
function encodeJournalLine(line: JournalLine): Uint8Array {
  return utf8(canonicalJson(line));
}

/** Decodes a line. @returns null for any bytes that are not a complete line */
function decodeJournalLine(bytes: Uint8Array): JournalLine | null {
  const text = decodeUtf8(bytes);
  if (text === null) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = JournalLine.safeParse(json);
  return parsed.success ? parsed.data : null;
}

/**
 * The erasure journal is a file outside the database. After a restore from an older backup, it
 * supplies the erasures that the backup lacks. Several processes may append to it concurrently.
 */
export interface ErasureJournal {
  /** Appends one line. On return it is on disk. @throws JournalUnavailable */
  append(line: JournalLine): Promise<void>;
  /**
   * Reads the lines from a byte offset. If the file is shorter or no line starts there, the file was replaced, and the
   * read starts at 0. Yields null for an unreadable line: a crash interrupted it, and its transaction was never
   * committed.
   * @throws JournalUnavailable
   */
  read(offset: number): AsyncGenerator<JournalEntry, void>;
}

export interface JournalEntry {
  readonly line: JournalLine | null;
  /** Offset of the next line, in bytes. */
  readonly next: number;
}

const LINE_FEED = 0x0a;
const CHUNK_BYTES = 256 * 1024;

/** Opens the journal. @param path path of the file; the first append creates it and its folder */
export function openErasureJournal(path: string): ErasureJournal {
  return {
    append: (line) => guarded(path, () => append(path, line)),
    read: (offset) => read(path, offset),
  };
}

async function append(path: string, line: JournalLine): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  const file = await open(path, 'a+', 0o600);
  try {
    const { size } = await file.stat();
    // A line feed ends a truncated line, so that it does not corrupt this one.
    const isTorn = size > 0 && (await byteAt(file, size - 1)) !== LINE_FEED;
    const bytes = Buffer.concat([Buffer.from(isTorn ? '\n' : ''), encodeJournalLine(line), Buffer.from('\n')]);
    const { bytesWritten } = await file.write(bytes);
    if (bytesWritten !== bytes.length)
      throw new JournalUnavailable(`only a part of a line could be written to ${path}`);
    await file.sync();
    if (size === 0) await syncFolder(dirname(path));
  } finally {
    await file.close();
  }
}

async function* read(path: string, offset: number): AsyncGenerator<JournalEntry, void> {
  const file = await guarded(path, () => openIfThere(path));
  if (file === null) return;
  try {
    let position = await guarded(path, () => startOf(file, offset));
    let pending = Buffer.alloc(0);
    for (;;) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const { bytesRead } = await guarded(path, () => file.read(chunk, 0, CHUNK_BYTES, position + pending.length));
      if (bytesRead === 0) return;
      pending = Buffer.concat([pending, chunk.subarray(0, bytesRead)]);
      for (let end = pending.indexOf(LINE_FEED); end >= 0; end = pending.indexOf(LINE_FEED)) {
        position += end + 1;
        if (end > 0) yield { line: decodeJournalLine(pending.subarray(0, end)), next: position };
        pending = pending.subarray(end + 1);
      }
    }
  } finally {
    await file.close();
  }
}

async function startOf(file: FileHandle, offset: number): Promise<number> {
  if (offset === 0) return 0;
  const { size } = await file.stat();
  return size >= offset && (await byteAt(file, offset - 1)) === LINE_FEED ? offset : 0;
}

async function byteAt(file: FileHandle, position: number): Promise<number | undefined> {
  const { bytesRead, buffer } = await file.read(Buffer.alloc(1), 0, 1, position);
  return bytesRead === 1 ? buffer[0] : undefined;
}

async function openIfThere(path: string): Promise<FileHandle | null> {
  try {
    return await open(path, 'r');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
    throw error;
  }
}

async function guarded<T>(path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof JournalUnavailable) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new JournalUnavailable(
      `The erasure journal ${path} cannot be used: ${reason}. Check its path, permissions and free space (ERASURE_JOURNAL).`,
      { cause: error },
    );
  }
}
