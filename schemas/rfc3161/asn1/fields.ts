import { MalformedInput } from '../errors.js';
import { type Asn1Node, childrenOf } from './reader.js';

/** The tag that a field must carry. `constructed` is omitted if BER allows both forms. */
export interface Tag {
  readonly tagClass: number;
  readonly tag: number;
  readonly constructed?: boolean;
}

/** Universal tags that the structures of this folder use (X.680 §8.4). */
export const TAG = {
  boolean: { tagClass: 0, tag: 1, constructed: false },
  integer: { tagClass: 0, tag: 2, constructed: false },
  bitString: { tagClass: 0, tag: 3, constructed: false },
  octetString: { tagClass: 0, tag: 4 },
  null: { tagClass: 0, tag: 5, constructed: false },
  oid: { tagClass: 0, tag: 6, constructed: false },
  enumerated: { tagClass: 0, tag: 10, constructed: false },
  utf8String: { tagClass: 0, tag: 12 },
  sequence: { tagClass: 0, tag: 16, constructed: true },
  set: { tagClass: 0, tag: 17, constructed: true },
  utcTime: { tagClass: 0, tag: 23, constructed: false },
  generalizedTime: { tagClass: 0, tag: 24, constructed: false },
} as const satisfies Record<string, Tag>;

/** A context-specific tag `[number]`, constructed by default. */
export function context(number: number, constructed = true): Tag {
  return { tagClass: 2, tag: number, constructed };
}

export function hasTag(node: Asn1Node, tag: Tag): boolean {
  return (
    node.tagClass === tag.tagClass &&
    node.tag === tag.tag &&
    (tag.constructed === undefined || node.constructed === tag.constructed)
  );
}

/**
 * Walks the fields of a SEQUENCE in order. `finish` rejects remaining fields, so that no byte goes
 * unread.
 */
export class Fields {
  readonly #nodes: Asn1Node[];
  #index = 0;

  /** @throws MalformedInput if the value is not a SEQUENCE or does not have the given tag */
  constructor(
    node: Asn1Node,
    readonly structure: string,
    tag: Tag = TAG.sequence,
  ) {
    expectTag(node, tag, structure);
    this.#nodes = childrenOf(node);
  }

  /** The next field, which must be there with this tag. @throws MalformedInput */
  required(tag: Tag, field: string): Asn1Node {
    return expectTag(this.requiredAny(field), tag, `${this.structure}.${field}`);
  }

  /** The next field, with any tag. @throws MalformedInput */
  requiredAny(field: string): Asn1Node {
    const node = this.#nodes[this.#index];
    if (node === undefined) throw new MalformedInput('missing-field', `${this.structure}.${field} is missing`);
    this.#index += 1;
    return node;
  }

  /** The next field if it has this tag. */
  optional(tag: Tag): Asn1Node | undefined {
    const node = this.#nodes[this.#index];
    if (node === undefined || !hasTag(node, tag)) return undefined;
    this.#index += 1;
    return node;
  }

  /** Whether every field has been read. */
  atEnd(): boolean {
    return this.#index === this.#nodes.length;
  }

  /** @throws MalformedInput if a field is left */
  finish(): void {
    if (!this.atEnd()) {
      throw new MalformedInput('unexpected-field', `${this.structure} has an unexpected field`);
    }
  }
}

/** @throws MalformedInput if the value has another tag */
export function expectTag(node: Asn1Node, tag: Tag, what: string): Asn1Node {
  if (!hasTag(node, tag)) throw new MalformedInput('bad-tag', `${what} has the wrong type`);
  return node;
}

/** The members of a SEQUENCE OF or SET OF. @throws MalformedInput */
export function listOf(node: Asn1Node, tag: Tag, what: string): Asn1Node[] {
  return childrenOf(expectTag(node, tag, what));
}

/** The single value inside an EXPLICIT tag. @throws MalformedInput */
export function explicit(node: Asn1Node, what: string): Asn1Node {
  const [inner, ...rest] = childrenOf(node);
  if (inner === undefined || rest.length > 0) {
    throw new MalformedInput('bad-value', `${what} must contain exactly one value`);
  }
  return inner;
}
