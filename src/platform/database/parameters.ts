import pg from 'pg';

/**
 * Returns a `bigint` literal, for a statement that takes no parameters.
 * @throws TypeError unless the value is a safe integer
 */
export function int8Literal(value: number): string {
  if (!Number.isSafeInteger(value)) throw new TypeError(`not an integer: ${value}`);
  return `'${value}'::bigint`;
}

/** @throws TypeError for U+0000, which PostgreSQL cannot store */
export function textLiteral(value: string): string {
  if (value.includes('\0')) throw new TypeError('a text with U+0000');
  return pg.escapeLiteral(value);
}

/** Quotes a name as an SQL identifier. */
export function identifier(name: string): string {
  return pg.escapeIdentifier(name);
}

/** The names as SQL identifiers, with commas between them. */
export function identifiers(names: readonly string[]): string {
  return names.map(identifier).join(', ');
}

const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** @throws TypeError unless the values are UUIDs with dashes, in lower case */
export function uuidArrayLiteral(values: readonly string[]): string {
  for (const value of values) if (!UUID.test(value)) throw new TypeError(`not a UUID: ${value}`);
  return `'{${values.join()}}'::uuid[]`;
}

/**
 * Encodes one-dimensional arrays in PostgreSQL's binary format (`array_send`): a header of five
 * 32-bit numbers, then each element after its length. `pg` sends a Buffer as a binary parameter, so
 * neither side escapes text.
 */
const OID = { bytea: 17, int8: 20, int4: 23, text: 25, uuid: 2950 } as const;

const HEADER_BYTES = 20;
const NULL_LENGTH = -1;

export function byteaArray(values: readonly (Uint8Array | null)[]): Buffer {
  return variableArray(OID.bytea, values, lengthOfBytes, writeBytes);
}

/** @param values values without U+0000, which PostgreSQL refuses */
export function textArray(values: readonly (string | null)[]): Buffer {
  return variableArray(OID.text, values, Buffer.byteLength, writeText);
}

/** @param values UUIDs with dashes, in lower case */
export function uuidArray(values: readonly string[]): Buffer {
  return fixedArray(OID.uuid, values, 16, (out, value, at) => out.write(value.replaceAll('-', ''), at, 'hex'));
}

export function int4Array(values: readonly number[]): Buffer {
  return fixedArray(OID.int4, values, 4, (out, value, at) => out.writeInt32BE(value, at));
}

/** @param values safe integers */
export function int8Array(values: readonly number[]): Buffer {
  return fixedArray(OID.int8, values, 8, (out, value, at) => out.writeBigInt64BE(BigInt(value), at));
}

const lengthOfBytes = (value: Uint8Array): number => value.length;
const writeBytes = (out: Buffer, value: Uint8Array, at: number): void => out.set(value, at);
const writeText = (out: Buffer, value: string, at: number): number => out.write(value, at);

/** Elements that may be null, of different lengths. */
function variableArray<T>(
  oid: number,
  values: readonly (T | null)[],
  lengthOf: (value: T) => number,
  write: (out: Buffer, value: T, at: number) => unknown,
): Buffer {
  let size = HEADER_BYTES;
  for (const value of values) size += 4 + (value === null ? 0 : lengthOf(value));
  const out = withHeader(oid, values.length, size);
  let at = HEADER_BYTES;
  for (const value of values) {
    const length = value === null ? NULL_LENGTH : lengthOf(value);
    at = out.writeInt32BE(length, at);
    if (value === null) continue;
    write(out, value, at);
    at += length;
  }
  return out;
}

/** Elements of one length. */
function fixedArray<T>(
  oid: number,
  values: readonly T[],
  bytes: number,
  write: (out: Buffer, value: T, at: number) => unknown,
): Buffer {
  const out = withHeader(oid, values.length, HEADER_BYTES + values.length * (4 + bytes));
  let at = HEADER_BYTES;
  for (const value of values) {
    at = out.writeInt32BE(bytes, at);
    write(out, value, at);
    at += bytes;
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
