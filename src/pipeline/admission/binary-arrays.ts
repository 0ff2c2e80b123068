/**
 * Encodes one-dimensional arrays in PostgreSQL's binary format (`array_send`): a header of five
 * 32-bit numbers, then each element after its length. `pg` sends a Buffer as a binary parameter, so
 * neither side escapes text.
 */
const OID = { bytea: 17, int4: 23, uuid: 2950 } as const;

const HEADER_BYTES = 20;
const NULL_LENGTH = -1;

export function byteaArray(values: readonly (Uint8Array | null)[]): Buffer {
  let size = HEADER_BYTES;
  for (const value of values) size += 4 + (value === null ? 0 : value.length);
  const out = withHeader(OID.bytea, values.length, size);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = out.writeInt32BE(value === null ? NULL_LENGTH : value.length, at);
    if (value === null) continue;
    out.set(value, at);
    at += value.length;
  }
  return out;
}

/** @param values UUIDs with dashes, in lower case */
export function uuidArray(values: readonly string[]): Buffer {
  const out = withHeader(OID.uuid, values.length, HEADER_BYTES + values.length * 20);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = out.writeInt32BE(16, at);
    at += out.write(value.replaceAll('-', ''), at, 'hex');
  }
  return out;
}

export function int4Array(values: readonly number[]): Buffer {
  const out = withHeader(OID.int4, values.length, HEADER_BYTES + values.length * 8);
  let at = HEADER_BYTES;
  for (const value of values) {
    at = out.writeInt32BE(4, at);
    at = out.writeInt32BE(value, at);
  }
  return out;
}

/**
 * Prepends the header. An empty array has no dimension, so its header is the first three numbers.
 */
function withHeader(oid: number, count: number, size: number): Buffer {
  const out = Buffer.allocUnsafe(count === 0 ? 12 : size);
  out.writeInt32BE(count === 0 ? 0 : 1, 0);
  // The flag "may contain nulls". The server accepts 1 for an array without nulls too.
  out.writeInt32BE(1, 4);
  out.writeInt32BE(oid, 8);
  if (count > 0) {
    out.writeInt32BE(count, 12);
    out.writeInt32BE(1, 16);
  }
  return out;
}
