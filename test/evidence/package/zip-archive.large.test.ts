import { execFileSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { createWriteStream, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Writable } from 'node:stream';
import { afterAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { utf8 } from '../../../schemas/crypto/encoding.js';
import {
  dataDescriptor,
  directoryRecord,
  endRecords,
  localHeader,
  WriteAhead,
  ZipArchive,
} from '../../../src/evidence/package/zip-archive.js';
import { type ByteSource, memorySource } from '../../../verifier-cli/src/container/byte-source.js';
import { readCentralDirectory } from '../../../verifier-cli/src/container/central-directory.js';
import { readEndRecord } from '../../../verifier-cli/src/container/end-record.js';
import { readExtent } from '../../../verifier-cli/src/container/local-header.js';
import { unpack } from './reading-packages.js';

const TIME = new Date('2026-03-04T05:06:08.000Z');
const folder = mkdtempSync(join(tmpdir(), 'zip-archive-'));
afterAll(() => rmSync(folder, { recursive: true }));

async function* inPieces(bytes: Uint8Array, length: number): AsyncGenerator<Uint8Array, void> {
  for (let at = 0; at < bytes.length; at += length) yield bytes.subarray(at, at + length);
}

describe('an archive', () => {
  it('is read by unzip and by the verifier, whatever the size of its files', async () => {
    const files = new Map([
      ['empty', new Uint8Array()],
      ['folder/short.txt', utf8('short\n')],
      ['ğüş/long', new Uint8Array(randomBytes(700_000))],
      ['repeated', new Uint8Array(Buffer.alloc(3_000_000, 'consent '))],
    ]);
    const path = join(folder, 'package.zip');
    const destination = new WriteAhead(createWriteStream(path));
    const zip = new ZipArchive(destination, TIME);
    for (const [name, content] of files) await zip.add(name, inPieces(content, 100_000));
    await zip.finish();
    await destination.end();
    execFileSync('unzip', ['-tq', path]);
    const bytes = new Uint8Array(readFileSync(path));
    expect(zip.size).toBe(bytes.length);
    expect(digests(await unpack(path))).toEqual(digests(files));
    const { entries, problems } = await directoryOf(memorySource(bytes));
    expect(problems).toEqual([]);
    expect(entries.map(({ name, size }) => [name, size])).toEqual(
      [...files].map(([name, content]) => [name, content.length]),
    );
  });

  it('reports the error of its destination, of its content, and of a write after the destruction', async () => {
    const full = new WriteAhead(
      new Writable({ write: (_piece, _encoding, done) => done(new Error('the disk is full')) }),
    );
    const content = (): AsyncGenerator<Uint8Array, void> => inPieces(new Uint8Array(randomBytes(2_000_000)), 100_000);
    await expect(new ZipArchive(full, TIME).add('file', content())).rejects.toThrow('the disk is full');

    const sink = new WriteAhead(new Writable({ write: (_piece, _encoding, done) => done() }));
    const broken = async function* (): AsyncGenerator<Uint8Array, void> {
      yield utf8('first');
      throw new Error('the content is broken');
    };
    await expect(new ZipArchive(sink, TIME).add('file', broken())).rejects.toThrow('the content is broken');
    await sink.destroy(new Error('the export was stopped'));
    await expect(new ZipArchive(sink, TIME).add('file', content())).rejects.toThrow('the export was stopped');
  });
});

describe('ZIP64 records', () => {
  it.each([
    ['a file of 5 GiB', { size: 5 * 2 ** 30, packedSize: 2 ** 30, offset: 0 }],
    ['a file that is larger deflated', { size: 2 ** 32 - 2, packedSize: 2 ** 32, offset: 0 }],
    ['a file at 7 GiB', { size: 10, packedSize: 12, offset: 7 * 2 ** 30 }],
    ['a file just below the limits', { size: 2 ** 32 - 2, packedSize: 2 ** 32 - 2, offset: 0 }],
  ])('are right for %s', async (_what, sizes) => {
    const file = { name: utf8('entries.ndjson'), crc: 0xfedcba98, ...sizes };
    const header = localHeader(file.name, TIME);
    const descriptor = dataDescriptor(file);
    const dataEnd = file.offset + header.length + file.packedSize;
    const start = dataEnd + descriptor.length;
    const record = directoryRecord(file, TIME);
    const tail = Buffer.concat([record, endRecords(1, start, record.length)]);
    const source = sparse(start + tail.length, [
      [file.offset, header],
      [dataEnd, descriptor],
      [start, tail],
    ]);
    const { entries, problems } = await directoryOf(source);
    expect(problems).toEqual([]);
    expect(entries).toMatchObject([
      {
        name: 'entries.ndjson',
        crc: file.crc,
        size: file.size,
        packedSize: file.packedSize,
        headerOffset: file.offset,
      },
    ]);
  });

  it('count more files than 16 bits hold', async () => {
    const record = directoryRecord({ name: utf8('a'), crc: 0, size: 0, packedSize: 2, offset: 0 }, TIME);
    const end = endRecords(70_000, 0, 70_000 * record.length);
    const source = memorySource(new Uint8Array(Buffer.concat([...Array.from({ length: 70_000 }, () => record), end])));
    expect(await readEndRecord(source)).toMatchObject({ entries: 70_000, problems: [] });
  });
});

/** Digests in place of contents: comparing megabytes byte by byte takes a minute. */
function digests(files: ReadonlyMap<string, Uint8Array>): readonly string[] {
  return [...files].map(([name, content]) => `${name} ${sha256Hex(content)}`);
}

/** Reads a ZIP as the verifier does, with the problems of every part. */
async function directoryOf(source: ByteSource) {
  const end = await readEndRecord(source);
  if (end === null) throw new Error('there is no end record');
  const bytes = await source.read(end.directoryOffset, end.directorySize);
  const directory = readCentralDirectory(bytes, end.entries);
  if (directory === null) throw new Error('the central directory is malformed');
  const problems = [...end.problems];
  for (const entry of directory.entries) {
    const extent = await readExtent(source, entry, end.directoryOffset);
    if (extent === null) throw new Error('a file reaches beyond the archive');
    problems.push(...entry.problems, ...extent.problems);
  }
  return { entries: directory.entries, problems };
}

/** A file of which only some parts have bytes other than zero. */
function sparse(size: number, parts: readonly (readonly [offset: number, bytes: Uint8Array])[]): ByteSource {
  return {
    size,
    read: async (offset, length) => {
      const out = new Uint8Array(length);
      for (const [at, bytes] of parts) {
        const from = Math.max(offset, at);
        const to = Math.min(offset + length, at + bytes.length);
        if (from < to) out.set(bytes.subarray(from - at, to - at), from - offset);
      }
      return out;
    },
  };
}
