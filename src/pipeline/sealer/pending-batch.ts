import { InvalidEventBody, isConsentType } from '../../../schemas/events/sealed-event.js';
import { siteOfStream } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import { timeOfEventId } from '../../platform/event-ids.js';
import type { LogDamaged } from '../event-log/errors.js';
import type { LoggedEvent, Position, StreamEvent } from '../event-log/port.js';
import { listQuarantinedSites, quarantineSite } from '../event-log/quarantined-sites.js';
import { Unsealable } from '../ledger/errors.js';
import { headOf, leafOf, type SealedLeaf, StreamHeads } from '../ledger/ledger-state.js';
import type { Numbering } from './assign-tags.js';

export interface BatchLimits {
  /** Maximum number of leaves in a Merkle batch. */
  readonly maxLeaves: number;
  /** Maximum wait of the oldest event of a batch, in milliseconds. */
  readonly maxAgeMs: number;
}

/** The Merkle batch under construction. It contains only leaves, never the content of an event. */
export class PendingBatch {
  readonly #leaves: SealedLeaf[] = [];
  readonly #heads = new StreamHeads();
  #since: number | null = null;
  /** When the oldest consent of the batch was accepted, in Unix milliseconds, or null if it has none. */
  oldestConsent: number | null = null;

  /** Numbering of each person who has a record in the batch, by site, blind index and seed. */
  readonly nextNumbers = new Map<string, Numbering>();

  /** Position in the log after which reading continues. */
  position: Position | null;

  /** @param start position in the log after which the batch starts */
  constructor(readonly start: Position | null) {
    this.position = start;
  }

  get leaves(): readonly SealedLeaf[] {
    return this.#leaves;
  }

  get heads(): StreamHeads {
    return this.#heads;
  }

  /**
   * Adds an event, unless it is already sealed.
   * @param tag the tag of a consent or an erasure, 32 bytes; null for other events
   * @param now milliseconds of a monotonic clock
   * @returns false if the preceding event of its stream is neither sealed nor in this batch
   * @throws Unsealable if the event cannot be sealed
   */
  add(event: LoggedEvent, tag: Uint8Array | null, now: number): boolean {
    const head = this.#heads.get(event.stream);
    if (event.revision <= head.revision) return true;
    if (event.revision !== head.revision + 1) return false;
    const leaf = leafOrRefusal(event, head, tag);
    this.#leaves.push(leaf);
    this.#heads.set(event.stream, headOf(leaf));
    this.#since ??= now;
    if (isConsentType(event.type))
      this.oldestConsent = Math.min(this.oldestConsent ?? Number.POSITIVE_INFINITY, timeOfEventId(event.id).getTime());
    return true;
  }

  /** Returns how many leaves can still be added. */
  room(limits: BatchLimits): number {
    return limits.maxLeaves - this.#leaves.length;
  }

  /**
   * @param now milliseconds of a monotonic clock
   * @param consentAge milliseconds since the oldest consent was accepted; 0 to ignore it, because more events are
   *   waiting that can be sealed together
   */
  isDue(limits: BatchLimits, now: number, consentAge: number): boolean {
    if (this.#since === null) return false;
    return this.room(limits) <= 0 || Math.max(now - this.#since, consentAge) >= limits.maxAgeMs;
  }
}

function leafOrRefusal(event: LoggedEvent, head: ReturnType<StreamHeads['get']>, tag: Uint8Array | null): SealedLeaf {
  try {
    return leafOf(event, head, tag);
  } catch (error) {
    if (!(error instanceof InvalidEventBody)) throw error;
    throw new Unsealable(
      `event ${event.id} (${event.stream}, revision ${event.revision}) cannot be sealed: ${error.message}`,
      {
        cause: error,
      },
    );
  }
}

type Place = Pick<StreamEvent, 'stream' | 'revision'>;

/**
 * Streams that cannot be sealed from a revision on, because the log is damaged there. Their sites are quarantined;
 * streams of other sites are still sealed.
 */
export class QuarantinedStreams {
  /** The first revision that cannot be sealed, by stream. */
  readonly #from = new Map<string, number>();

  /** @param onQuarantined called when a site is quarantined that was not before */
  constructor(
    private readonly db: Queryable,
    private readonly onQuarantined: (siteId: string, reason: string) => void,
  ) {}

  get areNone(): boolean {
    return this.#from.size === 0;
  }

  has({ stream, revision }: Place): boolean {
    return revision >= (this.#from.get(stream) ?? Number.POSITIVE_INFINITY);
  }

  /**
   * Excludes an event and those after it in its stream.
   * @throws LogDamaged, the given one, if the stream belongs to no site
   */
  async add({ stream, revision }: Place, damage: LogDamaged): Promise<void> {
    const siteId = siteOfStream(stream);
    if (siteId === null) throw damage;
    const isNew = await quarantineSite(this.db, siteId, damage.message);
    this.#from.set(stream, revision);
    if (isNew) this.onQuarantined(siteId, damage.message);
  }

  /** Readmits the streams of sites that an operator released. @returns whether there were any */
  async areReleased(): Promise<boolean> {
    if (this.#from.size === 0) return false;
    const quarantined = new Set<string | null>((await listQuarantinedSites(this.db)).map(({ siteId }) => siteId));
    const released = [...this.#from.keys()].filter((stream) => !quarantined.has(siteOfStream(stream)));
    for (const stream of released) this.#from.delete(stream);
    return released.length > 0;
  }
}
