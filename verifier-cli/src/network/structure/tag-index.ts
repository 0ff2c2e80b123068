import { join } from 'node:path';
import { KEY_BYTES } from '../../../../schemas/evidence/structure-file.js';
import {
  compareKeys,
  findRecords,
  mergeRecords,
  type Records,
  RecordWriter,
  recordsIn,
  recordsOf,
  withFiles,
} from './records.js';

/** A sorted file of tags. */
export interface TagFile {
  /** Name in the folder. */
  readonly name: string;
  readonly count: number;
}

/** An older file is merged with the newer ones if it is at most this many times as large as they are together. */
const RATIO = 4;
/** Limit of tags held in memory, in bytes. */
const MOST_WAITING = 32 * 1024 * 1024;

/**
 * All tags of the ledger, in sorted files whose sizes grow geometrically, so each tag is written only O(log n) times.
 * Files never change: the caller stores the list of current files and removes the others.
 */
export class TagIndex {
  #waiting: Uint8Array[] = [];
  #bytes = 0;
  #files: readonly TagFile[];

  /** @param next number of the next file: no file of this folder has it or a larger one */
  constructor(
    readonly folder: string,
    files: readonly TagFile[],
    private next: number,
  ) {
    this.#files = files;
  }

  get files(): readonly TagFile[] {
    return this.#files;
  }

  get nextFile(): number {
    return this.next;
  }

  /** Whether `flush` should be called. */
  get isFull(): boolean {
    return this.#bytes >= MOST_WAITING;
  }

  /** Adds the sorted tags of a batch. */
  add(tags: Uint8Array): void {
    if (tags.length === 0) return;
    this.#waiting.push(tags);
    this.#bytes += tags.length;
  }

  /**
   * Stores the tags that were added.
   * @returns a tag that the ledger has twice, or null if it has none
   */
  flush(): Uint8Array | null {
    if (this.#bytes === 0) return null;
    const added = new Uint8Array(this.#bytes);
    let at = 0;
    for (const { record } of mergeRecords(this.#waiting.map((tags) => recordsIn(tags, KEY_BYTES)))) {
      if (at > 0 && compareKeys(added.subarray(at - KEY_BYTES), record) === 0) return record.slice();
      added.set(record, at);
      at += KEY_BYTES;
    }
    this.#waiting = [];
    this.#bytes = 0;
    const kept = [...this.#files].sort((a, b) => b.count - a.count);
    const merged: TagFile[] = [];
    let count = added.length / KEY_BYTES;
    for (let last = kept.at(-1); last !== undefined && last.count <= RATIO * count; last = kept.at(-1)) {
      kept.pop();
      merged.push(last);
      count += last.count;
    }
    for (const file of kept) {
      let twice: Uint8Array | null = null;
      findRecords(this.#part(file), recordsIn(added, KEY_BYTES), (tag) => {
        twice ??= tag.slice();
      });
      if (twice !== null) return twice;
    }
    return this.#merge(added, merged, kept);
  }

  #merge(added: Uint8Array, merged: readonly TagFile[], kept: readonly TagFile[]): Uint8Array | null {
    const name = `tags-${this.next}`;
    const writer = new RecordWriter(join(this.folder, name));
    const twice = withFiles(
      merged.map((file) => join(this.folder, file.name)),
      (files) => {
        const sources: Records[] = merged.map((file) => {
          const part = this.#part(file);
          return recordsOf(files.get(part.path) ?? -1, part);
        });
        const before = new Uint8Array(KEY_BYTES);
        let isFirst = true;
        for (const { record } of mergeRecords([...sources, recordsIn(added, KEY_BYTES)])) {
          if (!isFirst && compareKeys(before, record) === 0) return record.slice();
          before.set(record);
          isFirst = false;
          writer.write(record);
        }
        return null;
      },
    );
    writer.end();
    if (twice !== null) return twice;
    this.next += 1;
    this.#files = [...kept, { name, count: writer.size / KEY_BYTES }];
    return null;
  }

  #part({ name, count }: TagFile) {
    return { path: join(this.folder, name), offset: 0, count, length: KEY_BYTES };
  }
}
