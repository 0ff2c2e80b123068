import { toHex } from '../../../schemas/crypto/encoding.js';
import { CONSENT_RECORDED } from '../../../schemas/events/consent-recorded.js';
import {
  BATCH_SEALED,
  BatchSealedBody,
  CHECKPOINT_STAMPED,
  CheckpointStampedBody,
} from '../../../schemas/events/ledger.js';
import { PublicEventBody } from '../../../schemas/events/notices.js';
import { parseBody, parseRecord } from '../../../schemas/events/sealed-event.js';
import { LEDGER_STREAM } from '../../../schemas/events/streams.js';
import { SUBJECT_ERASED } from '../../../schemas/events/subject-erased.js';
import { parseCheckpoint } from '../../../schemas/evidence/checkpoint.js';
import { parseNote } from '../../../schemas/evidence/signed-note.js';
import type { LoggedEvent } from '../../../src/pipeline/event-log/port.js';
import type { MemoryLogServer } from './memory-log.js';

/** The ledger as its stream tells it, without the code of the service. */
interface SeenLedger {
  readonly ids: ReadonlySet<string>;
  readonly erased: ReadonlySet<string>;
  readonly ends: ReadonlyMap<string, number>;
  readonly sealed: ReadonlyMap<string, number>;
  readonly batches: number;
  readonly stamped: number;
  readonly pending: { readonly size: number; readonly note: string; readonly tokens: number } | null;
}

const NOTHING_SEEN: SeenLedger = {
  ids: new Set(),
  erased: new Set(),
  ends: new Map(),
  sealed: new Map(),
  batches: 0,
  stamped: 0,
  pending: null,
};

/** Checks each event that enters the log, at the step at which it does. */
export class LogWatch {
  readonly problems: string[] = [];
  #seen = NOTHING_SEEN;
  #read = 0;
  /** The roots that authorities have stamped, by the size of the ledger. They are out in the world for good. */
  readonly #roots = new Map<number, string>();

  constructor(
    private readonly log: MemoryLogServer,
    /** Whether a caller sent a consent of this id. */
    private readonly wasSent: (id: string) => boolean,
  ) {}

  get batches(): number {
    return this.#seen.batches;
  }

  get stamped(): number {
    return this.#seen.stamped;
  }

  /** The last sealed revision of a stream; -1: none. */
  sealedOf(stream: string): number {
    return this.#seen.sealed.get(stream) ?? -1;
  }

  /** Looks at the events since the last call. */
  look(): void {
    const { events } = this.log;
    for (; this.#read < events.length; this.#read += 1) {
      const event = events[this.#read];
      if (event !== undefined) this.#take(event);
    }
  }

  /** Called after the log went back in time or lost events: what is there now was seen before. */
  lookAgain(): void {
    const problems = this.problems.length;
    this.#seen = NOTHING_SEEN;
    this.#read = 0;
    this.look();
    this.problems.length = problems;
  }

  /** Compares what is sealed with the log, once an operator has repaired it. */
  compare(): void {
    for (const [stream, last] of this.#seen.sealed) {
      const there = this.log.of(stream).filter(({ revision, data }) => revision <= last && data.length > 0);
      const first = this.log.of(stream)[0]?.revision ?? 0;
      if (there.length !== last + 1 - first) this.problems.push(`${nameOf(stream)} lacks events that are sealed`);
    }
  }

  /** Notes the root of a checkpoint that an authority stamped. */
  noteStamped(note: string): void {
    const parsed = parseNote(note);
    const checkpoint = parsed === null ? null : parseCheckpoint(parsed.text);
    if (checkpoint === null) return void this.problems.push('what was stamped is no checkpoint');
    const root = toHex(checkpoint.root);
    const before = this.#roots.get(checkpoint.size);
    if (before !== undefined && before !== root)
      this.problems.push(`size ${checkpoint.size} of the ledger has two roots`);
    this.#roots.set(checkpoint.size, root);
  }

  #take(event: LoggedEvent): void {
    const { id, type, stream, revision, data } = event;
    const seen = this.#seen;
    // Another program wrote it.
    const isForeign = data.length === 0;
    if (seen.ids.has(id)) this.problems.push(`an event is in the log twice, the second time in ${nameOf(stream)}`);
    const end = seen.ends.get(stream) ?? -1;
    if (revision !== end + 1) this.problems.push(`${nameOf(stream)} goes from revision ${end} to ${revision}`);
    if (type === CONSENT_RECORDED && !isForeign && !this.wasSent(id))
      this.problems.push('the log has a consent that no caller sent');
    this.#seen = {
      ...seen,
      ids: new Set([...seen.ids, id]),
      ends: new Map([...seen.ends, [stream, revision]]),
    };
    if (type === SUBJECT_ERASED && !isForeign) this.#takeErasure(data);
    if (stream !== LEDGER_STREAM || isForeign) return;
    if (type === BATCH_SEALED) this.#takeBatch(parseBody(BatchSealedBody, type, data));
    if (type === CHECKPOINT_STAMPED) this.#takeStamp(parseBody(CheckpointStampedBody, type, data));
  }

  #takeErasure(data: Uint8Array): void {
    const { record } = parseBody(PublicEventBody, SUBJECT_ERASED, data);
    const { erased_event_id: erased } = parseRecord(SUBJECT_ERASED, record);
    if (this.#seen.erased.has(erased)) this.problems.push('the erasure of a record is announced twice');
    this.#seen = { ...this.#seen, erased: new Set([...this.#seen.erased, erased]) };
  }

  #takeBatch({ header, runs }: BatchSealedBody): void {
    const { batches, sealed } = this.#seen;
    const number: unknown = Reflect.get(Object(JSON.parse(header)), 'number');
    if (number !== batches) this.problems.push(`batch ${String(number)} follows batch ${batches - 1}`);
    const ends = new Map(sealed);
    for (const [stream, first, last] of runs) {
      const before = ends.get(stream) ?? -1;
      if (first !== before + 1)
        this.problems.push(`${nameOf(stream)} is sealed up to ${before}, and batch ${batches} goes on at ${first}`);
      const there = this.log.of(stream).filter(({ revision }) => revision >= first && revision <= last);
      // A log that lost its end gets it back by `log recover`: `compare` looks then.
      if (there.some(({ data }) => data.length === 0))
        this.problems.push(`batch ${batches} seals what another program wrote to ${nameOf(stream)}`);
      ends.set(stream, last);
    }
    this.#seen = { ...this.#seen, sealed: ends, batches: batches + 1 };
  }

  #takeStamp({ size, note, number, quorum }: CheckpointStampedBody): void {
    const { batches, stamped, pending } = this.#seen;
    if (size > batches || size <= stamped)
      this.problems.push(`a time stamp of size ${size} after ${stamped} of ${batches}`);
    if (pending !== null && (pending.size !== size || pending.note !== note))
      this.problems.push(`a time stamp of size ${size} while ${pending.size} waits for others`);
    if (number !== (pending?.tokens ?? 0) + 1) this.problems.push(`size ${size} gets time stamp ${number}`);
    const isWhole = number >= quorum;
    this.#seen = {
      ...this.#seen,
      stamped: isWhole ? size : stamped,
      pending: isWhole ? null : { size, note, tokens: number },
    };
  }
}

/** The name of a stream, without an id: the same in each run. */
function nameOf(stream: string): string {
  return stream.replace(/-0{8}.*(\d)$/, ' $1');
}
