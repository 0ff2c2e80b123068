import { MalformedInput } from '../errors.js';

/**
 * One BER or DER value of the input. `raw` and `content` are views of the caller's bytes, never a
 * re-encoding: signatures and hashes are computed over exactly what was received.
 */
export interface Asn1Node {
  /** 0 universal, 1 application, 2 context-specific, 3 private. */
  readonly tagClass: number;
  readonly tag: number;
  readonly constructed: boolean;
  /**
   * The whole value: tag, length, content and, in the indefinite form, the end-of-contents octets.
   */
  readonly raw: Uint8Array;
  /** The content octets alone. */
  readonly content: Uint8Array;
  /** Shared by all values of one input. */
  readonly lengths: IndefiniteLengths;
}

const MAX_DEPTH = 48;
const MAX_CHILDREN = 4096;
/** Values of indefinite length in one input; real BER tokens have about ten. */
const MAX_INDEFINITE = 65_536;

/**
 * The ends of the values of indefinite length in one input, so that each is searched for only once. Otherwise every
 * level of nesting would scan its whole subtree again: with 48 levels, 48 times the input.
 */
export class IndefiniteLengths {
  /** Offset of the content in the underlying buffer to the offset after the end-of-contents. */
  readonly #ends = new Map<number, number>();
  /** Headers read so far: the cost of the input. */
  steps = 0;

  endAt(start: number): number | undefined {
    return this.#ends.get(start);
  }

  /** @throws MalformedInput beyond the limit */
  note(start: number, end: number): void {
    if (this.#ends.size === MAX_INDEFINITE)
      throw new MalformedInput('too-many', `more than ${MAX_INDEFINITE} values of indefinite length`);
    this.#ends.set(start, end);
  }
}

interface Header {
  tagClass: number;
  tag: number;
  constructed: boolean;
  /** Offset of the first content octet. */
  start: number;
  /** Number of content octets, or undefined in the indefinite form. */
  length: number | undefined;
}

/**
 * Reads input that must be exactly one BER or DER value, with nothing after it (X.690 §8.1).
 *
 * Written here rather than taken from a library because hostile input decides its cost: values are only decoded when
 * they are needed, so a CRL of megabytes needs no memory beyond its own bytes.
 *
 * @throws MalformedInput
 */
export function readSingle(bytes: Uint8Array): Asn1Node {
  const node = readAt(bytes, 0, bytes.length, new IndefiniteLengths());
  if (node.raw.length !== bytes.length) {
    throw new MalformedInput('trailing-bytes', `${bytes.length - node.raw.length} bytes follow the value`);
  }
  return node;
}

/** The values inside a constructed value, at most 4,096 of them. @throws MalformedInput */
export function childrenOf(node: Asn1Node): Asn1Node[] {
  const children: Asn1Node[] = [];
  for (const child of eachChild(node)) {
    if (children.length === MAX_CHILDREN) throw new MalformedInput('too-many', 'too many values in one structure');
    children.push(child);
  }
  return children;
}

/**
 * The values inside a constructed value, one at a time, for lists of any length (CRL entries).
 * @throws MalformedInput
 */
export function* eachChild(node: Asn1Node): Generator<Asn1Node> {
  if (!node.constructed) throw new MalformedInput('bad-tag', 'a primitive value instead of a constructed one');
  let offset = 0;
  while (offset < node.content.length) {
    const child = readAt(node.content, offset, node.content.length, node.lengths);
    yield child;
    offset += child.raw.length;
  }
}

function readAt(bytes: Uint8Array, offset: number, limit: number, lengths: IndefiniteLengths): Asn1Node {
  const header = readHeader(bytes, offset, limit, lengths);
  const { tagClass, tag, constructed, start } = header;
  const end = endOf(header, bytes, limit, lengths, 0);
  const contentEnd = header.length === undefined ? end - 2 : end;
  return {
    tagClass,
    tag,
    constructed,
    raw: bytes.subarray(offset, end),
    content: bytes.subarray(start, contentEnd),
    lengths,
  };
}

function readHeader(bytes: Uint8Array, offset: number, limit: number, lengths: IndefiniteLengths): Header {
  lengths.steps += 1;
  const first = octet(bytes, offset, limit);
  const tag = first & 0x1f;
  if (first >> 6 === 0 && tag === 0) {
    throw new MalformedInput('bad-tag', 'end-of-contents octets instead of a value');
  }
  if (tag === 0x1f) throw new MalformedInput('bad-tag', 'tag numbers above 30 are not supported');
  const constructed = (first & 0x20) !== 0;
  const header = { tagClass: first >> 6, tag, constructed };
  const lengthOctet = octet(bytes, offset + 1, limit);
  let start = offset + 2;
  if (lengthOctet === 0x80) {
    if (!constructed) throw new MalformedInput('bad-length', 'indefinite length of a primitive value');
    return { ...header, start, length: undefined };
  }
  let length = lengthOctet;
  if (lengthOctet > 0x80) {
    const octets = lengthOctet & 0x7f;
    if (octets > 4) throw new MalformedInput('bad-length', 'a length of more than four octets');
    length = 0;
    for (let i = 0; i < octets; i++) length = length * 256 + octet(bytes, start + i, limit);
    start += octets;
  }
  if (length > limit - start)
    throw new MalformedInput('truncated', 'a value extends beyond the value that contains it');
  return { ...header, start, length };
}

/** The offset after a value. `depth` counts the values of indefinite length around it. */
function endOf(header: Header, bytes: Uint8Array, limit: number, lengths: IndefiniteLengths, depth: number): number {
  const { start, length } = header;
  if (length !== undefined) return start + length;
  const known = lengths.endAt(bytes.byteOffset + start);
  if (known !== undefined) return known - bytes.byteOffset;
  // Only nested indefinite lengths recurse, so only they need a bound here.
  if (depth === MAX_DEPTH) throw new MalformedInput('too-deep', 'values of indefinite length are nested too deep');
  let offset = start;
  for (;;) {
    if (octet(bytes, offset, limit) === 0) {
      if (octet(bytes, offset + 1, limit) !== 0) throw new MalformedInput('bad-length', 'bad end-of-contents octets');
      lengths.note(bytes.byteOffset + start, bytes.byteOffset + offset + 2);
      return offset + 2;
    }
    offset = endOf(readHeader(bytes, offset, limit, lengths), bytes, limit, lengths, depth + 1);
  }
}

function octet(bytes: Uint8Array, offset: number, limit: number): number {
  const value = offset < limit ? bytes[offset] : undefined;
  if (value === undefined) throw new MalformedInput('truncated', 'the input ends within a value');
  return value;
}
