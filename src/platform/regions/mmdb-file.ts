import { z } from 'zod';
import { InvalidMmdb, MmdbData, type MmdbValue } from './mmdb-data.js';

const METADATA_MARKER = Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1');
/** Bytes of zeros between tree and data. */
const SEPARATOR = 16;

const Metadata = z.object({
  binary_format_major_version: z.literal(2),
  ip_version: z.literal([4, 6]),
  node_count: z.int().min(1),
  record_size: z.literal([24, 28, 32]),
  database_type: z.string(),
});

/** A MaxMind DB held in memory: what it says of an address (MaxMind DB file format 2.0). */
export interface MmdbFile {
  readonly databaseType: string;
  /**
   * @param address 4 or 16 bytes
   * @returns null where the file says nothing of the address
   * @throws InvalidMmdb
   */
  find(address: Uint8Array): MmdbValue | null;
}

/** @throws InvalidMmdb */
export function readMmdb(file: Buffer): MmdbFile {
  const marker = file.lastIndexOf(METADATA_MARKER);
  if (marker === -1) throw new InvalidMmdb('it has no metadata');
  const metadata = Metadata.safeParse(new MmdbData(file.subarray(marker + METADATA_MARKER.length)).valueAt(0));
  if (!metadata.success) throw new InvalidMmdb('its metadata has an unsupported version');
  const { node_count: nodes, record_size: recordBits, ip_version: version, database_type: type } = metadata.data;
  const nodeBytes = recordBits / 4;
  const treeBytes = nodes * nodeBytes;
  if (treeBytes + SEPARATOR > marker) throw new InvalidMmdb('its tree is truncated');
  const data = new MmdbData(file.subarray(treeBytes + SEPARATOR, marker));
  const follow = (node: number, bit: number): number => recordOf(file, node * nodeBytes, recordBits, bit);
  const rootOfIPv4 = version === 4 ? 0 : descend(follow, nodes, 0, new Uint8Array(12));
  return {
    databaseType: type,
    find(address) {
      if (address.length === 16 && version === 4) return null;
      const record = descend(follow, nodes, address.length === 4 ? rootOfIPv4 : 0, address);
      return record <= nodes ? null : data.valueAt(record - nodes - SEPARATOR);
    },
  };
}

/** Follows the bits of an address until a record is no node: `nodes` means nothing known, what is above points to data. */
function descend(
  follow: (node: number, bit: number) => number,
  nodes: number,
  root: number,
  address: Uint8Array,
): number {
  let record = root;
  for (const byte of address) {
    for (let shift = 7; shift >= 0 && record < nodes; shift -= 1) record = follow(record, (byte >> shift) & 1);
  }
  return record;
}

/** The left (0) or right (1) record of a node. With 28 bits, the byte in the middle holds the highest four bits of both. */
function recordOf(file: Buffer, at: number, bits: 24 | 28 | 32, side: number): number {
  if (bits === 24) return file.readUIntBE(at + side * 3, 3);
  if (bits === 32) return file.readUInt32BE(at + side * 4);
  const middle = file.readUInt8(at + 3);
  return side === 0
    ? ((middle & 0xf0) << 20) | file.readUIntBE(at, 3)
    : ((middle & 0x0f) << 24) | file.readUIntBE(at + 4, 3);
}
