import { consentOf } from '../../../schemas/events/sealed-event.js';
import type { ConsentBody } from '../../../schemas/evidence/consent-body.js';
import { abortOf } from '../../platform/background/signals.js';
import { pause } from '../../platform/background/waiting.js';
import type { EventLog, LoggedEvent, LogPage, Position } from './port.js';

/** Maximum number of pages in memory. A page has at most 4 MB. */
const MAX_PAGES = 8;
/** Number of events per page for a reader that does not share pages with others. */
const PAGE_EVENTS = 500;

/** A page that was read, with the position after which it begins. */
interface KeptPage extends LogPage {
  readonly after: Position | null;
  readonly next: Position;
}

/** Announces appends, for readers that read the log at times of their own choosing. */
export interface Appends {
  /** Changes with each page that is read. Take it before reading the log, and pass it to `wait`. */
  readonly ticket: number;
  /**
   * Resolves after a page that is newer than `ticket`, after `ms`, or when one of `signals` is aborted.
   * @param ms milliseconds to wait: `followed` while a subscription reads the log, else `alone`
   */
  wait(
    ticket: number,
    ms: { readonly followed: number; readonly alone: number },
    ...signals: readonly AbortSignal[]
  ): Promise<void>;
}

export interface SharedLog extends EventLog, Appends {}

/**
 * Returns a log whose subscribers share what they read. Subscribers at the same position get the same pages from one
 * subscription, and each event is decoded once. The newest pages are kept in memory. A subscriber that is behind them
 * reads for itself until it catches up; one that is ahead of the others subscribes for itself. No subscriber waits for
 * another.
 */
export function shareReads(eventLog: EventLog): SharedLog {
  return new SharedReads(eventLog);
}

class SharedReads implements SharedLog {
  readonly kind: EventLog['kind'];
  readonly maxAppendBytes: number;
  /** Contiguous pages, newest last: they have every event between the first and the last. */
  #pages: KeptPage[] = [];
  #feed: Feed | null = null;
  #subscribers = 0;
  #pagesRead = 0;
  readonly #sleepers = new Set<() => void>();

  constructor(private readonly inner: EventLog) {
    this.kind = inner.kind;
    this.maxAppendBytes = inner.maxAppendBytes;
  }

  append: EventLog['append'] = (stream, expectedRevision, events) =>
    this.inner.append(stream, expectedRevision, events);
  appendAll: EventLog['appendAll'] = (appends) => this.inner.appendAll(appends);
  readStream: EventLog['readStream'] = (stream, fromRevision, limit) =>
    this.inner.readStream(stream, fromRevision, limit);
  readEvents: EventLog['readEvents'] = (places) => this.inner.readEvents(places);
  lastRevision: EventLog['lastRevision'] = (stream) => this.inner.lastRevision(stream);
  lastRevisions: EventLog['lastRevisions'] = (streams) => this.inner.lastRevisions(streams);
  firstRevisions: EventLog['firstRevisions'] = (streams) => this.inner.firstRevisions(streams);
  ping: EventLog['ping'] = () => this.inner.ping();

  async readAll(after: Position | null, limit: number): Promise<LogPage> {
    const kept = this.#keptAfter(after);
    if (kept === null) return this.inner.readAll(after, limit);
    const events = kept.events.slice(0, limit);
    const isWhole = events.length === kept.events.length;
    return {
      events,
      foreign: kept.foreign,
      next: isWhole ? kept.next : (events.at(-1)?.position ?? after),
      atEnd: false,
    };
  }

  async *subscribe(after: Position | null, signal: AbortSignal): AsyncGenerator<LogPage, void, undefined> {
    let position = after;
    this.#subscribers += 1;
    try {
      while (!signal.aborted) {
        const page = this.#keptAfter(position) ?? (await this.#nextPage(position, signal));
        if (page === 'ahead') {
          for await (const own of this.inner.subscribe(position, signal)) {
            yield own;
            position = own.next;
            if (!this.#isAheadOfFeed(position)) break;
          }
        } else if (page !== null) {
          position = page.next;
          if (page.events.length > 0 && !signal.aborted) yield page;
        }
      }
    } finally {
      this.#subscribers -= 1;
      if (this.#subscribers === 0) this.#endFeed();
    }
  }

  get ticket(): number {
    return this.#pagesRead;
  }

  async wait(
    ticket: number,
    { followed, alone }: { readonly followed: number; readonly alone: number },
    ...signals: readonly AbortSignal[]
  ): Promise<void> {
    if (this.#pagesRead !== ticket) return;
    const woken = new AbortController();
    const wake = (): void => woken.abort();
    this.#sleepers.add(wake);
    this.#feed?.begin();
    await pause(this.#feed === null ? alone : followed, woken.signal, ...signals);
    this.#sleepers.delete(wake);
  }

  async close(): Promise<void> {
    this.#endFeed();
    await this.inner.close();
  }

  /**
   * Returns the pages kept after a position, or null if there are none, or if they are not everything that the log has.
   */
  #keptAfter(after: Position | null): KeptPage | null {
    const page = this.#pages.find((kept) => isWithin(kept, after));
    if (page === undefined) return null;
    if (after === null || after === page.after) return page;
    return { ...page, after, events: page.events.filter(({ position }) => position > after) };
  }

  /**
   * Reads a page that is not kept.
   * @returns null if `signal` was aborted first, or `ahead` if the feed is at an earlier position
   * @throws EventLogUnavailable for a subscriber whose position precedes the kept pages
   */
  async #nextPage(after: Position | null, signal: AbortSignal): Promise<LogPage | 'ahead' | null> {
    if (this.#isAheadOfFeed(after)) return 'ahead';
    if (this.#feed === null || this.#feed.position === after) return this.#pull(after, signal);
    return this.inner.readAll(after, PAGE_EVENTS);
  }

  #isAheadOfFeed(position: Position | null): boolean {
    return this.#feed !== null && position !== null && (this.#feed.position ?? '') < position;
  }

  /** Waits for the next page of the feed, which begins at `after` if there is none. */
  async #pull(after: Position | null, signal: AbortSignal): Promise<LogPage | null> {
    this.#feed ??= new Feed(this.inner, after, (page) => {
      this.#pages = [...this.#pages, page].slice(-MAX_PAGES);
      this.#wake();
    });
    const feed = this.#feed;
    const aborted = abortOf(signal);
    try {
      const page = await Promise.race([feed.next(), aborted.promise]);
      return page === 'aborted' ? null : page;
    } catch (error) {
      if (this.#feed === feed) this.#endFeed();
      throw error;
    } finally {
      aborted.release();
    }
  }

  #endFeed(): void {
    this.#feed?.end();
    this.#feed = null;
    this.#pages = [];
    this.#wake();
  }

  #wake(): void {
    this.#pagesRead += 1;
    for (const wake of this.#sleepers) wake();
  }
}

/** One subscription, read a page at a time when a subscriber waits for the next page. */
class Feed {
  readonly #stop = new AbortController();
  readonly #pages: AsyncIterator<LogPage>;
  #reading: Promise<KeptPage> | null = null;

  constructor(
    eventLog: EventLog,
    /** Position after which the next page begins. */
    public position: Position | null,
    private readonly keep: (page: KeptPage) => void,
  ) {
    this.#pages = eventLog.subscribe(position, this.#stop.signal)[Symbol.asyncIterator]();
  }

  /** Returns the next page. All waiting subscribers get the same one. */
  next(): Promise<KeptPage> {
    this.#reading ??= this.#read();
    return this.#reading;
  }

  /** Starts to read the next page unless a read is in progress. An error reaches everyone who waits for the page. */
  begin(): void {
    if (this.#reading === null) this.next().catch(() => undefined);
  }

  end(): void {
    this.#stop.abort();
    this.#reading?.catch(() => undefined);
    // Between two pages the subscription does not notice the signal, and would stay open.
    this.#pages.return?.().catch(() => undefined);
  }

  async #read(): Promise<KeptPage> {
    const { value } = await this.#pages.next();
    const page: LogPage | undefined = value;
    if (page === undefined || page.next === null) throw new Error('the subscription to the event log ended');
    const events = page.events.map((event) => new DecodedOnce(event));
    const { foreign, next, atEnd } = page;
    const kept: KeptPage = { events, foreign, after: this.position, next, atEnd };
    this.position = page.next;
    this.#reading = null;
    if (!this.#stop.signal.aborted) this.keep(kept);
    return kept;
  }
}

/** An event whose body is parsed when it is first needed. */
class DecodedOnce implements LoggedEvent {
  readonly id: string;
  readonly type: string;
  readonly stream: string;
  readonly revision: number;
  readonly position: Position;
  readonly data: Uint8Array;
  readonly metadata: Uint8Array;
  #consent: ConsentBody | null | undefined;

  constructor(event: LoggedEvent) {
    this.id = event.id;
    this.type = event.type;
    this.stream = event.stream;
    this.revision = event.revision;
    this.position = event.position;
    this.data = event.data;
    this.metadata = event.metadata;
  }

  get consent(): ConsentBody | null {
    if (this.#consent === undefined) this.#consent = consentOf({ type: this.type, data: this.data });
    return this.#consent;
  }
}

function isWithin(page: KeptPage, after: Position | null): boolean {
  return after === page.after || (after !== null && (page.after ?? '') < after && after < page.next);
}
