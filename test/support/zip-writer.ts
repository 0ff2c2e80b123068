import { crc32, deflateRawSync } from 'node:zlib';

/** A file to write, and its deviations from a valid ZIP. */
export interface ZipFile {
  name: string;
  content: Uint8Array;
  /** Default: stored. */
  deflate?: boolean;
  /** Whether sizes and CRC follow the data. */
  descriptor?: boolean;
  /** Different values for the local header. */
  local?: {
    name?: string;
    size?: number;
    packedSize?: number;
    crc?: number;
    flags?: number;
    method?: number;
    time?: number;
  };
  /** Different values for the central directory. */
  central?: {
    size?: number;
    packedSize?: number;
    crc?: number;
    attributes?: number;
    comment?: string;
    extra?: Uint8Array;
    method?: number;
    flags?: number;
    /** Version and system. */
    madeBy?: number;
    /** Whether it is the last one of the directory. */
    isLast?: boolean;
  };
  /** Changes the packed data. */
  packed?: (data: Uint8Array) => Uint8Array;
  /** Bytes before the local header. */
  before?: Uint8Array;
  /** Index of another file whose offset this one claims. */
  sharesDataOf?: number;
}

const UTF8 = 0x0800;
const DESCRIPTOR = 0x0008;

/** Writes a ZIP in memory (APPNOTE 4.3), with the requested faults. */
export function writeZip(files: readonly ZipFile[], end: { comment?: string; entries?: number } = {}): Uint8Array {
  const parts: Uint8Array[] = [];
  const offsets: number[] = [];
  const directory: { readonly parts: readonly Uint8Array[]; readonly isLast: boolean }[] = [];
  let at = 0;
  const put = (part: Uint8Array) => {
    parts.push(part);
    at += part.length;
  };
  for (const file of files) {
    if (file.before !== undefined) put(file.before);
    const offset = file.sharesDataOf === undefined ? at : (offsets[file.sharesDataOf] ?? 0);
    offsets.push(offset);
    const deflated = file.deflate === true ? deflateRawSync(file.content) : file.content;
    const data = file.packed?.(new Uint8Array(deflated)) ?? new Uint8Array(deflated);
    const facts = factsOf(file, data.length);
    if (file.sharesDataOf === undefined) {
      for (const part of localHeader(file, facts)) put(part);
      put(data);
      if (file.descriptor === true) put(pack([0x08074b50, 4], [facts.crc, 4], [facts.packedSize, 4], [facts.size, 4]));
    }
    directory.push({
      parts: centralHeader(file, facts, offset),
      isLast: file.central?.isLast === true,
    });
  }
  const start = at;
  for (const last of [false, true])
    for (const { parts } of directory.filter(({ isLast }) => isLast === last)) for (const part of parts) put(part);
  const count = end.entries ?? files.length;
  const comment = bytes(end.comment ?? '');
  put(pack([0x06054b50, 4], [0, 2], [0, 2], [count, 2], [count, 2], [at - start, 4], [start, 4], [comment.length, 2]));
  put(comment);
  return new Uint8Array(Buffer.concat(parts));
}

/** What a header says of a file. */
interface Facts {
  readonly crc: number;
  readonly packedSize: number;
  readonly size: number;
  readonly method: number;
  readonly flags: number;
}

function factsOf({ content, deflate = false, descriptor = false }: ZipFile, packedSize: number): Facts {
  const flags = UTF8 | (descriptor ? DESCRIPTOR : 0);
  return { crc: crc32(content), packedSize, size: content.length, method: deflate ? 8 : 0, flags };
}

function localHeader(file: ZipFile, facts: Facts): readonly Uint8Array[] {
  const inLocal = file.descriptor === true ? { ...facts, crc: 0, packedSize: 0, size: 0 } : facts;
  const name = bytes(file.local?.name ?? file.name);
  const local = { ...inLocal, time: 0x21_0000, ...file.local };
  return [
    pack(
      [0x04034b50, 4],
      [20, 2],
      [local.flags, 2],
      [local.method, 2],
      [local.time, 4],
      [local.crc, 4],
      [local.packedSize, 4],
      [local.size, 4],
      [name.length, 2],
      [0, 2],
    ),
    name,
  ];
}

function centralHeader(file: ZipFile, facts: Facts, offset: number): readonly Uint8Array[] {
  const name = bytes(file.name);
  const central = {
    ...facts,
    madeBy: 0x0314,
    attributes: 0o100644 * 0x10000,
    comment: '',
    extra: new Uint8Array(),
    ...file.central,
  };
  const comment = bytes(central.comment);
  return [
    pack(
      [0x02014b50, 4],
      [central.madeBy, 2],
      [20, 2],
      [central.flags, 2],
      [central.method, 2],
      [0x21_0000, 4],
      [central.crc, 4],
      [central.packedSize, 4],
      [central.size, 4],
    ),
    pack(
      [name.length, 2],
      [central.extra.length, 2],
      [comment.length, 2],
      [0, 2],
      [0, 2],
      [central.attributes, 4],
      [offset, 4],
    ),
    name,
    central.extra,
    comment,
  ];
}

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Packs little-endian numbers with the given widths in bytes. */
function pack(...fields: readonly (readonly [value: number, width: number])[]): Uint8Array {
  const out = Buffer.alloc(fields.reduce((sum, [, width]) => sum + width, 0));
  let at = 0;
  for (const [value, width] of fields) at = out.writeUIntLE(value, at, width);
  return new Uint8Array(out);
}
