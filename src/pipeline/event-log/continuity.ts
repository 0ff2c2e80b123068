import { RevisionGap } from './errors.js';
import { NO_STREAM, type StreamEvent } from './port.js';

/**
 * Verifies that a page of a stream has no gap, also not before its first event. The log of a server
 * can lose events in silence, and a reader that counts on would take the rest for the whole.
 * @param from the revision that was asked for
 * @throws RevisionGap
 */
export function assertContinuous(stream: string, from: number, events: readonly StreamEvent[]): void {
  for (const [place, { revision }] of events.entries()) {
    if (revision !== from + place) throw new RevisionGap(stream, from + place, revision);
  }
}

/** The streams that a reader of the whole log has met, for the gaps between their events. */
export class Continuity {
  readonly #last = new Map<string, number>();

  /** @param fromStart whether the reader began at the start of the log: then each stream begins with 0 */
  constructor(private readonly fromStart: boolean) {}

  /** Returns the gap before an event, and counts on from the event; null: there is none. */
  gapBefore({ stream, revision }: Pick<StreamEvent, 'stream' | 'revision'>): RevisionGap | null {
    const last = this.#last.get(stream) ?? (this.fromStart ? NO_STREAM : revision - 1);
    this.#last.set(stream, revision);
    return revision === last + 1 ? null : new RevisionGap(stream, last + 1, revision);
  }

  /** @throws RevisionGap */
  check(events: readonly Pick<StreamEvent, 'stream' | 'revision'>[]): void {
    for (const event of events) {
      const gap = this.gapBefore(event);
      if (gap !== null) throw gap;
    }
  }

  /** Returns the last revision that was met of a stream; `NO_STREAM` (-1): none. */
  lastOf(stream: string): number {
    return this.#last.get(stream) ?? NO_STREAM;
  }
}
