/** Builds small MaxMind DB files, for tests of databases of other vendors and record sizes. */

export type Entry = string | number | boolean | readonly Entry[] | { readonly [key: string]: Entry };

interface Network {
  /** 4 or 16 bytes; its first `prefix` bits are significant. */
  readonly address: Uint8Array;
  readonly prefix: number;
  readonly entry: Entry;
}

type Branch = [Branch | number | null, Branch | number | null];

/** @param networks disjoint networks; IPv4 ones are placed below ::/96, as vendors do */
export function buildMmdb(recordSize: 24 | 28 | 32, networks: readonly Network[]): Buffer {
  const root: Branch = [null, null];
  const values: Buffer[] = [];
  let dataBytes = 0;
  for (const { address, prefix, entry } of networks) {
    const bytes = address.length === 4 ? new Uint8Array([...new Uint8Array(12), ...address]) : address;
    const bits = address.length === 4 ? prefix + 96 : prefix;
    const value = encode(entry);
    plant(root, bytes, bits, dataBytes);
    values.push(value);
    dataBytes += value.length;
  }
  const branches: Branch[] = [];
  number(root, branches);
  const tree = Buffer.concat(branches.map((branch) => node(branch, branches, recordSize)));
  const metadata = encode({
    binary_format_major_version: 2,
    binary_format_minor_version: 0,
    database_type: 'Test',
    ip_version: 6,
    node_count: branches.length,
    record_size: recordSize,
    languages: [],
  });
  return Buffer.concat([tree, Buffer.alloc(16), ...values, Buffer.from('\xab\xcd\xefMaxMind.com', 'latin1'), metadata]);
}

function plant(root: Branch, bytes: Uint8Array, bits: number, offset: number): void {
  let branch = root;
  for (let i = 0; i < bits; i += 1) {
    const side = ((bytes[i >> 3] ?? 0) >> (7 - (i & 7))) & 1;
    if (i === bits - 1) {
      branch[side] = offset;
      return;
    }
    const next = branch[side];
    const deeper: Branch = Array.isArray(next) ? next : [null, null];
    branch[side] = deeper;
    branch = deeper;
  }
}

function number(branch: Branch, branches: Branch[]): void {
  branches.push(branch);
  for (const child of branch) if (Array.isArray(child)) number(child, branches);
}

function node(branch: Branch, branches: readonly Branch[], recordSize: 24 | 28 | 32): Buffer {
  const [left, right] = branch.map((child) => {
    if (child === null) return branches.length;
    return Array.isArray(child) ? branches.indexOf(child) : branches.length + 16 + child;
  });
  const out = Buffer.alloc(recordSize / 4);
  if (recordSize === 24) {
    out.writeUIntBE(left ?? 0, 0, 3);
    out.writeUIntBE(right ?? 0, 3, 3);
  } else if (recordSize === 32) {
    out.writeUInt32BE(left ?? 0, 0);
    out.writeUInt32BE(right ?? 0, 4);
  } else {
    out.writeUIntBE((left ?? 0) & 0xffffff, 0, 3);
    out.writeUInt8((((left ?? 0) >> 24) << 4) | ((right ?? 0) >> 24), 3);
    out.writeUIntBE((right ?? 0) & 0xffffff, 4, 3);
  }
  return out;
}

function encode(value: Entry): Buffer {
  if (typeof value === 'string') return Buffer.concat([head(2, Buffer.byteLength(value)), Buffer.from(value, 'utf8')]);
  if (typeof value === 'boolean') return head(14, value ? 1 : 0);
  if (typeof value === 'number') {
    const bytes = Buffer.alloc(4);
    bytes.writeUInt32BE(value);
    return Buffer.concat([head(6, 4), bytes]);
  }
  if (Array.isArray(value)) return Buffer.concat([head(11, value.length), ...value.map(encode)]);
  const members = Object.entries(value);
  return Buffer.concat([head(7, members.length), ...members.flatMap(([key, member]) => [encode(key), encode(member)])]);
}

function head(type: number, size: number): Buffer {
  const short = size < 29 ? size : 29;
  const further = size < 29 ? [] : [size - 29];
  return Buffer.from(type < 8 ? [(type << 5) | short, ...further] : [short, type - 7, ...further]);
}
