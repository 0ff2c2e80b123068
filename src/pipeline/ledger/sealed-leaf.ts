import { toHex } from '../../../schemas/crypto/encoding.js';
import { sealedContent } from '../../../schemas/events/sealed-event.js';
import { entryLeaf, entryText } from '../../../schemas/evidence/entry.js';
import type { StreamEvent } from '../event-log/port.js';
import { NOTHING_SEALED, type StreamHead } from './ledger-state.js';

/** A leaf of a Merkle batch. */
export interface SealedLeaf {
  readonly stream: string;
  readonly revision: number;
  readonly eventId: string;
  /** 32 bytes. */
  readonly hash: Uint8Array;
  /** Tag of a consent or an erasure, 32 bytes; null for other events. */
  readonly tag: Uint8Array | null;
}

/**
 * Computes the leaf of an event, chained to the preceding one of its stream.
 * @param head the preceding event; its revision must be one less
 * @param tag the tag if the event is a consent or an erasure, 32 bytes; else null
 * @throws InvalidEventBody if the event cannot be sealed
 * @throws RangeError if it does not follow `head`
 */
export function leafOf(event: StreamEvent, head: StreamHead, tag: Uint8Array | null): SealedLeaf {
  if (event.revision !== head.revision + 1) {
    throw new RangeError(`revision ${event.revision} of ${event.stream} does not follow ${head.revision}`);
  }
  const { recordText, proofHash } = sealedContent(event);
  const text = entryText({
    stream: event.stream,
    revision: event.revision,
    previous: head.leaf,
    eventId: event.id,
    type: event.type,
    recordText,
    proofHash,
    personTag: tag === null ? null : toHex(tag),
  });
  return { stream: event.stream, revision: event.revision, eventId: event.id, hash: entryLeaf(text), tag };
}

/** Returns the stream head that consists of this leaf. */
export function headOf(leaf: SealedLeaf): StreamHead {
  return { revision: leaf.revision, leaf: toHex(leaf.hash) };
}

/** Tracks the heads of streams while leaves are added to them. */
export class StreamHeads {
  readonly #heads = new Map<string, StreamHead>();

  has(stream: string): boolean {
    return this.#heads.has(stream);
  }

  get(stream: string): StreamHead {
    return this.#heads.get(stream) ?? NOTHING_SEALED;
  }

  set(stream: string, head: StreamHead): void {
    this.#heads.set(stream, head);
  }

  entries(): [string, StreamHead][] {
    return [...this.#heads];
  }
}

/** Ends that one process remembers; further ones are read and verified again. */
const MAX_REMEMBERED = 50_000;

/** The ends of sealed streams that were verified against the ledger tree, or sealed by this process. */
export class SealedHeads {
  readonly #known = new Map<string, StreamHead>();

  get(stream: string): StreamHead | undefined {
    return this.#known.get(stream);
  }

  set(stream: string, head: StreamHead): void {
    this.#known.delete(stream);
    this.#known.set(stream, head);
    const [oldest] = this.#known.keys();
    if (this.#known.size > MAX_REMEMBERED && oldest !== undefined) this.#known.delete(oldest);
  }

  /** Forgets streams that another process continued. */
  forget(streams: readonly string[]): void {
    for (const stream of streams) this.#known.delete(stream);
  }
}
