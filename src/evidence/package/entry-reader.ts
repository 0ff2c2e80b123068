import { InvalidEventBody, sealedContent } from '../../../schemas/events/sealed-event.js';
import type { RevisionRun } from '../../../schemas/evidence/batch-header.js';
import type { ConsentBody } from '../../../schemas/evidence/consent-body.js';
import { consentEntryText, entryLeafHex, entryText } from '../../../schemas/evidence/entry.js';
import { RevisionGap } from '../../pipeline/event-log/errors.js';
import type { EventLog, StreamEvent } from '../../pipeline/event-log/port.js';
import type { Queryable } from '../../platform/database/pool.js';
import { differ } from './errors.js';
import { type LeafRow, readLeaves } from './ledger-reader.js';

/** An event whose recomputed entry has the leaf hash that was sealed. */
export interface SealedEntry {
  readonly event: StreamEvent;
  /** JCS text of the record (RFC 8785). */
  readonly recordText: string;
  /** JCS text of the entry (RFC 8785). */
  readonly text: string;
  readonly batch: number;
  /** Index of the leaf in its batch. */
  readonly index: number;
  /** Leaf hash of the previous revision in hex, or null at revision 0. */
  readonly previous: string | null;
  /** Tag of a consent or an erasure, in hex, or null for other events. */
  readonly personTag: string | null;
  /** The parsed body of a consent, or null if the body does not have the form that admission writes. */
  readonly consent: ConsentBody | null;
}

/** Maximum number of events that one statement reads. The event log returns fewer events if they are large. */
const PAGE = 1_000;

/**
 * Reads a run of sealed events in pages. The bodies come from the event log and the positions from
 * the ledger's tables. Each leaf is recomputed.
 * @throws ExportFailed `log-and-ledger-differ`; EventLogUnavailable, database errors
 */
export async function* readEntries(
  db: Queryable,
  eventLog: EventLog,
  run: RevisionRun,
): AsyncGenerator<readonly SealedEntry[], void> {
  let previous = run.first === 0 ? null : await previousLeaf(db, run);
  let ahead: Promise<RawPage> | null = readAhead(db, eventLog, run, run.first);
  while (ahead !== null) {
    const { events, leaves }: RawPage = await ahead;
    const end: number = (events.at(-1)?.revision ?? run.last) + 1;
    // The next page is read while the caller processes this one.
    ahead = end <= run.last ? readAhead(db, eventLog, run, end) : null;
    const page: SealedEntry[] = [];
    for (const [i, event] of events.entries()) {
      const entry = sealedEntry(event, leaves[i], end - events.length + i, previous);
      page.push(entry.sealed);
      previous = entry.leaf;
    }
    yield page;
  }
}

interface RawPage {
  readonly events: readonly StreamEvent[];
  readonly leaves: readonly LeafRow[];
}

function readAhead(db: Queryable, eventLog: EventLog, { stream, last }: RevisionRun, first: number): Promise<RawPage> {
  const read = async (): Promise<RawPage> => {
    const reading = eventLog.readStream(stream, first, Math.min(PAGE, last - first + 1));
    const events = await reading.catch((error: unknown) =>
      error instanceof RevisionGap ? differ(error.message) : Promise.reject(error),
    );
    const end = events.at(-1);
    if (end === undefined) differ(`${stream} has no revision ${first}, but it is sealed`);
    return { events, leaves: await readLeaves(db, stream, first, end.revision) };
  };
  const page = read();
  // The caller receives the error when it awaits the page. If it never does, the rejection must not
  // end the process.
  page.catch(() => undefined);
  return page;
}

async function previousLeaf(db: Queryable, { stream, first }: RevisionRun): Promise<string> {
  const [leaf] = await readLeaves(db, stream, first - 1, first - 1);
  return leaf === undefined ? differ(`revision ${first - 1} of ${stream} is not sealed`) : leaf.hash;
}

function sealedEntry(
  event: StreamEvent,
  row: LeafRow | undefined,
  revision: number,
  previous: string | null,
): { readonly sealed: SealedEntry; readonly leaf: string } {
  const place = `revision ${revision} of ${event.stream}`;
  if (event.revision !== revision) differ(`the log has no ${place}`);
  if (row === undefined || row.revision !== revision) differ(`${place} is not sealed`);
  if (row.eventId !== event.id) differ(`another event was sealed as ${place}`);
  const { stream, id: eventId, type } = event;
  const { recordText, proofHash, consent } = contentOf(event, place);
  const { personTag } = row;
  const text =
    consent !== null && personTag !== null
      ? consentEntryText(
          { stream, revision, previous, eventId, proofHash: consent.body.proof_hash, personTag },
          recordText,
        )
      : entryText({ stream, revision, previous, eventId, type, recordText, proofHash, personTag });
  const leaf = entryLeafHex(text);
  if (leaf !== row.hash) differ(`${place} is not what was sealed: the log was changed, or the ledger was`);
  return {
    sealed: { event, recordText, text, batch: row.batch, index: row.index, previous, personTag, consent },
    leaf,
  };
}

function contentOf(event: StreamEvent, place: string): ReturnType<typeof sealedContent> {
  try {
    return sealedContent(event);
  } catch (error) {
    if (error instanceof InvalidEventBody) differ(`${place}: ${error.message}`);
    throw error;
  }
}
