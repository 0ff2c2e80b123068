import { siteOfStream } from '../../../schemas/events/streams.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { LogDamaged } from '../event-log/errors.js';
import type { StreamEvent } from '../event-log/port.js';
import { listQuarantinedSites, quarantineSite } from '../event-log/quarantined-sites.js';

type Place = Pick<StreamEvent, 'stream' | 'revision'>;

/**
 * Streams that cannot be sealed from a revision on, because the log is damaged there. Their sites are
 * quarantined, and those of other sites are sealed.
 */
export class LeftOutStreams {
  /** The revision from which on, by stream. */
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
   * Leaves out an event and those after it in its stream.
   * @throws LogDamaged, the given one, if the stream belongs to no site
   */
  async add({ stream, revision }: Place, damage: LogDamaged): Promise<void> {
    const siteId = siteOfStream(stream);
    if (siteId === null) throw damage;
    const isNew = await quarantineSite(this.db, siteId, damage.message);
    this.#from.set(stream, revision);
    if (isNew) this.onQuarantined(siteId, damage.message);
  }

  /** Takes in again the streams of sites that an operator released. @returns whether there were some */
  async areReleased(): Promise<boolean> {
    if (this.#from.size === 0) return false;
    const quarantined = new Set<string | null>((await listQuarantinedSites(this.db)).map(({ siteId }) => siteId));
    const released = [...this.#from.keys()].filter((stream) => !quarantined.has(siteOfStream(stream)));
    for (const stream of released) this.#from.delete(stream);
    return released.length > 0;
  }
}
