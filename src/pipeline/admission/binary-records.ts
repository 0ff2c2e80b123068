/**
 * Encodes arrays of composite types in PostgreSQL's binary format (`array_send` of `record_send`).
 * `pg` sends a Buffer as a binary parameter, so neither side escapes text.
 */

/**
 * Type OIDs of fields. The server checks the OID of built-in types; types of the schema have no
 * fixed OID.
 */
const OID = { bool: 16, bytea: 17, int8: 20, int4: 23, text: 25, timestamptz: 1184, uuid: 2950, ofSchema: 0 } as const;

const NULL_LENGTH = -1;
/** 2000-01-01T00:00:00Z, PostgreSQL's epoch, in Unix milliseconds. */
const POSTGRES_EPOCH = 946_684_800_000;
const TWO_TO_32 = 4_294_967_296;

/**
 * Encodes an array of a composite type.
 * @param values one value for each element
 * @param fieldCount number of fields of the composite type
 * @param writeFields writes each field of an element, in the order of the type
 * @param elementBytes estimated bytes of an element; the buffer grows if they do not suffice
 */
export function recordArray<T>(
  values: readonly T[],
  fieldCount: number,
  writeFields: (fields: FieldWriter, value: T) => void,
  elementBytes: number,
): Buffer {
  const writer = new FieldWriter(64 + values.length * elementBytes);
  writer.beginArray(values.length);
  for (const value of values) {
    const start = writer.beginRecord(fieldCount);
    writeFields(writer, value);
    writer.endRecord(start);
  }
  return writer.bytes();
}

/** @param value a UUID with dashes */
export function uuidBytes(value: string): Buffer {
  return Buffer.from(value.replaceAll('-', ''), 'hex');
}

/** Writes the fields of a composite value in order. */
export class FieldWriter {
  #buffer: Buffer;
  #at = 0;

  constructor(size: number) {
    this.#buffer = Buffer.allocUnsafe(size);
  }

  int4(value: number): void {
    this.#begin(OID.int4, 4);
    this.#at = this.#buffer.writeInt32BE(value, this.#at);
  }

  /** @param value a safe integer */
  int8(value: number): void {
    this.#eightBytes(OID.int8, value);
  }

  /** @param value Unix milliseconds */
  timestamptz(value: number | null): void {
    if (value === null) this.#null(OID.timestamptz);
    else this.#eightBytes(OID.timestamptz, (value - POSTGRES_EPOCH) * 1000);
  }

  /** @param value result of `uuidBytes` */
  uuid(value: Uint8Array | null): void {
    this.#bytes(OID.uuid, value);
  }

  bool(value: boolean): void {
    this.#bytes(OID.bool, Buffer.of(value ? 1 : 0));
  }

  bytea(value: Uint8Array | null): void {
    this.#bytes(OID.bytea, value);
  }

  text(value: string | null): void {
    this.#bytes(OID.text, value === null ? null : Buffer.from(value));
  }

  /** @param value UTF-8 of a label of an enum of the schema */
  label(value: Uint8Array): void {
    this.#bytes(OID.ofSchema, value);
  }

  beginArray(count: number): void {
    this.#reserve(20);
    // An empty array has no dimension. The second number is the flag "may contain nulls".
    this.#int(count === 0 ? 0 : 1);
    this.#int(0);
    this.#int(OID.ofSchema);
    if (count === 0) return;
    this.#int(count);
    this.#int(1);
  }

  /** @returns the argument for `endRecord` */
  beginRecord(fieldCount: number): number {
    this.#reserve(8);
    this.#at += 4;
    const start = this.#at;
    this.#int(fieldCount);
    return start;
  }

  endRecord(start: number): void {
    this.#buffer.writeInt32BE(this.#at - start, start - 4);
  }

  bytes(): Buffer {
    return this.#buffer.subarray(0, this.#at);
  }

  #bytes(oid: number, value: Uint8Array | null): void {
    if (value === null) {
      this.#null(oid);
      return;
    }
    this.#begin(oid, value.length);
    this.#buffer.set(value, this.#at);
    this.#at += value.length;
  }

  #eightBytes(oid: number, value: number): void {
    this.#begin(oid, 8);
    this.#at = this.#buffer.writeInt32BE(Math.floor(value / TWO_TO_32), this.#at);
    this.#at = this.#buffer.writeUInt32BE(((value % TWO_TO_32) + TWO_TO_32) % TWO_TO_32, this.#at);
  }

  #null(oid: number): void {
    this.#reserve(8);
    this.#int(oid);
    this.#int(NULL_LENGTH);
  }

  #begin(oid: number, length: number): void {
    this.#reserve(8 + length);
    this.#int(oid);
    this.#int(length);
  }

  #int(value: number): void {
    this.#at = this.#buffer.writeInt32BE(value, this.#at);
  }

  #reserve(length: number): void {
    if (this.#at + length <= this.#buffer.length) return;
    const larger = Buffer.allocUnsafe(Math.max(this.#buffer.length * 2, this.#at + length));
    this.#buffer.copy(larger, 0, 0, this.#at);
    this.#buffer = larger;
  }
}
