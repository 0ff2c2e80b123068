import { closeSync, fsyncSync, openSync, readSync, writeSync } from 'node:fs';
import { KEY_BYTES } from '../../../../schemas/evidence/structure-file.js';

/*
 * Files of records of one length, sorted by their first 32 bytes. Reads and writes are synchronous: a
 * call for each record of millions would cost more than the work.
 */

/** Buffer size of a reader and of a writer, in bytes. */
const BUFFER_BYTES = 64 * 1024;
/** Number of bytes that a search reads at once. */
const BLOCK_BYTES = 4096;

/** Records in order: those of a part of a file. */
export interface Records {
  /** The next record, valid until the next call, or null at the end. */
  next(): Uint8Array | null;
}

/** A part of a file with records. */
export interface RecordPart {
  readonly path: string;
  /** Number of bytes before the first record. */
  readonly offset: number;
  readonly count: number;
  /** Number of bytes of a record. */
  readonly length: number;
}

/** Opens files for the duration of some work. */
export function withFiles<T>(paths: readonly string[], work: (files: ReadonlyMap<string, number>) => T): T {
  const files = new Map<string, number>();
  try {
    for (const path of new Set(paths)) files.set(path, openSync(path, 'r'));
    return work(files);
  } finally {
    for (const file of files.values()) closeSync(file);
  }
}

/** Reads a part of an open file from its start. @throws Error if the file is shorter */
export function recordsOf(file: number, { path, offset, count, length }: RecordPart): Records {
  const perBuffer = Math.max(1, Math.floor(BUFFER_BYTES / length));
  const buffer = new Uint8Array(Math.min(perBuffer, Math.max(1, count)) * length);
  let read = 0;
  let at = 0;
  let end = 0;
  return {
    next() {
      if (at === end) {
        if (read === count) return null;
        const some = Math.min(buffer.length / length, count - read);
        readFully(file, buffer.subarray(0, some * length), offset + read * length, path);
        read += some;
        at = 0;
        end = some * length;
      }
      at += length;
      return buffer.subarray(at - length, at);
    },
  };
}

/** Records in memory, one after the other. */
export function recordsIn(bytes: Uint8Array, length: number): Records {
  let at = 0;
  return {
    next() {
      if (at >= bytes.length) return null;
      at += length;
      return bytes.subarray(at - length, at);
    },
  };
}

function readFully(file: number, target: Uint8Array, position: number, path: string): void {
  let done = 0;
  while (done < target.length) {
    const some = readSync(file, target, done, target.length - done, position + done);
    if (some === 0) throw new Error(`${path} is shorter than it was: restore the newest copy of the folder`);
    done += some;
  }
}

/** Writes a file of records, and makes it durable at its end. */
export class RecordWriter {
  readonly #file: number;
  readonly #buffer = new Uint8Array(BUFFER_BYTES);
  #used = 0;
  #written = 0;

  constructor(path: string) {
    this.#file = openSync(path, 'w', 0o600);
  }

  /** Number of bytes so far. */
  get size(): number {
    return this.#written + this.#used;
  }

  write(bytes: Uint8Array): void {
    if (this.#used + bytes.length > this.#buffer.length) this.#flush();
    if (bytes.length > this.#buffer.length) {
      this.#writeOut(bytes);
      return;
    }
    this.#buffer.set(bytes, this.#used);
    this.#used += bytes.length;
  }

  end(): void {
    this.#flush();
    fsyncSync(this.#file);
    closeSync(this.#file);
  }

  #flush(): void {
    this.#writeOut(this.#buffer.subarray(0, this.#used));
    this.#used = 0;
  }

  #writeOut(bytes: Uint8Array): void {
    for (let done = 0; done < bytes.length; ) done += writeSync(this.#file, bytes, done);
    this.#written += bytes.length;
  }
}

/** A record of a merge, and the index of its source. */
export interface Merged {
  readonly record: Uint8Array;
  readonly source: number;
}

/**
 * Merges sorted records. Equal keys come in the order of the sources.
 * @returns each record, valid until the next record is requested
 */
export function* mergeRecords(sources: readonly Records[]): Generator<Merged, void> {
  const heap = sources.flatMap((records, source) => {
    const record = records.next();
    return record === null ? [] : [{ record, source, records }];
  });
  const isBefore = (i: number, j: number): boolean => {
    const [a, b] = [heap[i], heap[j]];
    if (a === undefined || b === undefined) return a !== undefined;
    const order = compareKeys(a.record, b.record);
    return order < 0 || (order === 0 && a.source < b.source);
  };
  const sink = (from: number): void => {
    for (let i = from; ; ) {
      const left = 2 * i + 1;
      if (left >= heap.length) return;
      const least = left + 1 < heap.length && isBefore(left + 1, left) ? left + 1 : left;
      const [parent, child] = [heap[i], heap[least]];
      if (parent === undefined || child === undefined || !isBefore(least, i)) return;
      heap[i] = child;
      heap[least] = parent;
      i = least;
    }
  };
  for (let i = Math.floor(heap.length / 2) - 1; i >= 0; i -= 1) sink(i);
  for (;;) {
    const [top] = heap;
    if (top === undefined) return;
    yield top;
    const record = top.records.next();
    if (record !== null) heap[0] = { ...top, record };
    else {
      const last = heap.pop();
      if (last === undefined || heap.length === 0) return;
      heap[0] = last;
    }
    sink(0);
  }
}

/** Compares the first 32 bytes of two records. */
export function compareKeys(a: Uint8Array, b: Uint8Array): number {
  for (let i = 0; i < KEY_BYTES; i += 1) {
    const difference = (a[i] ?? 0) - (b[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}

/**
 * Looks sorted keys up in a part of a file. If the keys are dense, the part is read from end to end; if they are few, a
 * binary search finds each.
 * @param keys sorted, 32 bytes each
 * @param found called for each key that is there, with its record
 */
export function findRecords(part: RecordPart, keys: Records, found: (record: Uint8Array) => void): void {
  if (part.count === 0) return;
  withFiles([part.path], (files) => {
    const blocks = new Blocks(files.get(part.path) ?? -1, part);
    for (let key = keys.next(); key !== null; key = keys.next()) {
      const record = blocks.find(key);
      if (record !== null) found(record);
    }
  });
}

/** A part of a file in blocks, of which one is in memory. */
class Blocks {
  readonly #perBlock: number;
  readonly #count: number;
  readonly #buffer: Uint8Array;
  #held = -1;
  #records = 0;
  /** Keys increase, so no block before this one has the next key. */
  #lowest = 0;

  constructor(
    private readonly file: number,
    private readonly part: RecordPart,
  ) {
    this.#perBlock = Math.max(1, Math.floor(BLOCK_BYTES / part.length));
    this.#count = Math.ceil(part.count / this.#perBlock);
    this.#buffer = new Uint8Array(this.#perBlock * part.length);
  }

  /** @param key not smaller than those before */
  find(key: Uint8Array): Uint8Array | null {
    this.#lowest = this.#blockOf(key);
    this.#load(this.#lowest);
    let [from, to] = [0, this.#records];
    while (from < to) {
      const middle = (from + to) >> 1;
      const order = compareKeys(this.#at(middle), key);
      if (order === 0) return this.#at(middle);
      if (order < 0) from = middle + 1;
      else to = middle;
    }
    return null;
  }

  /** Finds the last block that starts at or before a key: growing steps, then a binary search. */
  #blockOf(key: Uint8Array): number {
    let low = this.#lowest;
    let high = this.#count - 1;
    for (let step = 1; low < high; step *= 2) {
      const probe = Math.min(low + step, high);
      if (this.#startsAfter(probe, key)) {
        high = probe - 1;
        break;
      }
      low = probe;
    }
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#startsAfter(middle, key)) high = middle - 1;
      else low = middle;
    }
    return low;
  }

  #startsAfter(block: number, key: Uint8Array): boolean {
    this.#load(block);
    return compareKeys(this.#at(0), key) > 0;
  }

  #load(block: number): void {
    if (block === this.#held) return;
    const { offset, count, length, path } = this.part;
    const first = block * this.#perBlock;
    this.#records = Math.min(this.#perBlock, count - first);
    readFully(this.file, this.#buffer.subarray(0, this.#records * length), offset + first * length, path);
    this.#held = block;
  }

  #at(i: number): Uint8Array {
    return this.#buffer.subarray(i * this.part.length, (i + 1) * this.part.length);
  }
}
