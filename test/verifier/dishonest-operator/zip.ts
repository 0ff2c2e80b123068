import { crc32 } from 'node:zlib';
import { concat, utf8 } from './primitives.js';

const UTF8_NAMES = 0x0800;
/** 1980-01-01 00:00:00 (APPNOTE 4.4.6). */
const DATE = 0x0021;

/** Writes a ZIP of stored files. */
export function storedZip(files: ReadonlyMap<string, Uint8Array>): Uint8Array {
  const local: Uint8Array[] = [];
  const central: Uint8Array[] = [];
  let offset = 0;
  for (const [fileName, content] of files) {
    const name = utf8(fileName);
    const common = [
      u16(20, UTF8_NAMES, 0, 0, DATE),
      u32(crc32(content), content.length, content.length),
      u16(name.length, 0),
    ];
    const header = concat(u32(0x04034b50), ...common, name);
    local.push(header, content);
    central.push(u32(0x02014b50), u16(20), ...common, u16(0, 0, 0), u32(0, offset), name);
    offset += header.length + content.length;
  }
  const directory = concat(...central);
  const end = [u32(0x06054b50), u16(0, 0, files.size, files.size), u32(directory.length, offset), u16(0)];
  return concat(...local, directory, ...end);
}

function u16(...values: readonly number[]): Uint8Array {
  return concat(...values.map((value) => Uint8Array.of(value & 0xff, value >>> 8)));
}

function u32(...values: readonly number[]): Uint8Array {
  return concat(...values.map((value) => concat(u16(value & 0xffff, value >>> 16))));
}
