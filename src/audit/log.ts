import * as z from 'zod';
import { fromBase64, toHex } from '../../schemas/crypto/encoding.js';
import type { SealedConsent } from '../../schemas/events/consent-imported.js';
import { ConsentRecordedBody } from '../../schemas/events/consent-recorded.js';
import {
  consentOf,
  InvalidEventBody,
  isConsentType,
  parseBody,
  parseConsent,
  parseRecord,
  sealedContent,
} from '../../schemas/events/sealed-event.js';
import { isSealedStream } from '../../schemas/events/streams.js';
import { SUBJECT_ERASED, type SubjectErasedRecord } from '../../schemas/events/subject-erased.js';
import { type LoggedEvent, type LogPage, NO_STREAM, type Position } from '../pipeline/event-log/port.js';
import { leafOf, NOTHING_SEALED } from '../pipeline/ledger/ledger-state.js';
import {
  assertGenuine,
  decryptForRecord,
  KeyError,
  type KeyRow,
  keyRowColumns,
  keyRowsOf,
  NotGenuine,
} from '../platform/keys/index.js';
import { auditAttachments, storedAttachments } from './attachments.js';
import { auditLogEnd } from './log-end.js';
import { openKnownRows, PAGE, readPastGaps, type Section } from './section.js';

const TABLE = 'event_log.events';

/**
 * Reads the log once, in its order. Each event must be genuine, be sealed as it is, and have what belongs
 * to it: the key or the erasure of a record, its attachments, and its approval token.
 * @param from position after which it begins, or null to begin at the start
 */
export async function auditLog(
  section: Section,
  from: Position | null,
  onPosition: (position: Position) => Promise<void>,
): Promise<void> {
  const { db, eventLog, findings, step } = section;
  const { events: total, position: until } = await newestEvents(section);
  const lastRevisions = new Map<string, number>();
  let position = from;
  let done = 0;
  for (;;) {
    // This is read before the page, so that no event can be sealed that the page does not reach.
    const sealedBefore = await sealedPosition(db);
    const page = await eventLog.readAll(position, PAGE);
    const sealedUpTo = await sealedPosition(db);
    if (eventLog.kind === 'postgres') checkPositions(section, position, page);
    for (const event of page.events) checkRevision(section, lastRevisions, event, from === null);
    await checkEvents(section, page.events, sealedUpTo);
    done += page.events.length;
    if (page.next !== null && page.next !== position) {
      position = page.next;
      await onPosition(position);
    }
    await step(done, total === null ? null : Math.max(total, done));
    // Later events are in flight: waiting for the end of a busy log would never finish.
    if (!page.atEnd && until !== null && position !== null && position >= until) break;
    if (!page.atEnd) continue;
    await auditLogEnd(section, position, latest(until, sealedBefore));
    if (sealedBefore !== null && sealedBefore > (position ?? ''))
      findings.add({
        kind: 'derived-differs',
        table: 'sealer_state',
        key: 'true',
        columns: ['log_position'],
        detail: `the table is at position ${sealedBefore}, and the log ends at ${position}`,
      });
    break;
  }
  if (done === 0 && from === null)
    findings.add({ kind: 'log-order', table: TABLE, key: '', detail: 'the log is empty' });
}

function latest(a: Position | null, b: Position | null): Position | null {
  return (a ?? '') > (b ?? '') ? a : b;
}

const EndRows = z.tuple([z.object({ events: z.number().nullable(), position: z.string().nullable() })]);

/** The position that the read models have reached, at which the comparison ends. */
async function newestEvents({ db }: Section): Promise<z.infer<typeof EndRows>[0]> {
  const { rows } = await db.query(
    'select max(events) as events, max(position) as position from projection_generations',
  );
  return EndRows.parse(rows)[0];
}

const PositionRows = z.array(z.object({ log_position: z.string().nullable() }));

/** Position up to which every event is in a batch. */
async function sealedPosition(db: Section['db']): Promise<Position | null> {
  return PositionRows.parse((await db.query('select log_position from sealer_state')).rows)[0]?.log_position ?? null;
}

/** The `postgres` log counts positions without gaps, and only the service writes to it. */
function checkPositions({ findings }: Section, before: Position | null, { events, foreign }: LogPage): void {
  for (const { stream, id } of foreign)
    findings.add({
      kind: 'event-altered',
      table: TABLE,
      key: id,
      detail: `no part of the service writes to the stream ${stream}`,
    });
  let expected = BigInt(before ?? '0') + 1n;
  for (const { position, id } of [...events, ...foreign].sort((a, b) => (a.position < b.position ? -1 : 1))) {
    if (BigInt(position) !== expected)
      findings.add({
        kind: 'log-order',
        table: TABLE,
        key: id,
        columns: ['position'],
        detail: `expected position ${expected}`,
      });
    expected = BigInt(position) + 1n;
  }
}

/** @param isFromStart whether every earlier event of the log was read; otherwise the first revisions are not known */
function checkRevision(
  { findings }: Section,
  last: Map<string, number>,
  { stream, revision, id }: LoggedEvent,
  isFromStart: boolean,
): void {
  const before = last.get(stream) ?? (isFromStart ? NO_STREAM : undefined);
  if (before !== undefined && revision !== before + 1)
    findings.add({
      kind: 'log-order',
      table: TABLE,
      key: id,
      columns: ['revision'],
      detail: `revision ${revision} of ${stream} follows ${before}`,
    });
  last.set(stream, revision);
}

const LeafRows = z.array(
  z.object({
    /** Number of its run among the requested runs, from 1. */
    run: z.number(),
    revision: z.number(),
    event_id: z.string(),
    hash: z.instanceof(Uint8Array),
    person_tag: z.instanceof(Uint8Array).nullable(),
  }),
);
type Leaf = z.infer<typeof LeafRows>[number];

async function checkEvents(section: Section, all: readonly LoggedEvent[], sealedUpTo: Position | null): Promise<void> {
  const { keyring, findings } = section;
  // Each body is read once for all checks.
  const events = all
    .filter(({ stream }) => isSealedStream(stream))
    .map((event) => ({ ...event, consent: consentOf(event) }));
  const leaves = await readLeaves(section, events);
  for (const event of events) {
    const key = event.id;
    try {
      await assertGenuine(event, keyring);
    } catch (error) {
      // If the key itself was altered, it is reported with the keys.
      if (!(error instanceof NotGenuine || error instanceof KeyError)) throw error;
      findings.add({ kind: 'event-altered', table: TABLE, key, detail: error.message });
      continue;
    }
    const leaf = leaves.get(`${event.stream} ${event.revision}`);
    if (leaf === undefined) {
      if (sealedUpTo !== null && event.position <= sealedUpTo)
        findings.add({
          kind: 'derived-differs',
          table: 'leaves',
          key: `${event.stream} ${event.revision}`,
          detail: 'the event is before the position that is sealed, and no batch has it',
        });
    } else checkLeaf(section, event, leaf, leaves.get(`${event.stream} ${event.revision - 1}`));
  }
  await checkRecords(section, events);
  await checkErasures(section, events);
}

/**
 * Reads the leaves of events, and of those before them. The leaves of each run are looked up by their keys
 * (`OFFSET 0`): a join could read all leaves for each page.
 */
async function readLeaves({ db }: Section, events: readonly LoggedEvent[]): Promise<ReadonlyMap<string, Leaf>> {
  const runs: { readonly stream: string; readonly first: number; last: number }[] = [];
  const newest = new Map<string, (typeof runs)[number]>();
  for (const { stream, revision } of events) {
    const run = newest.get(stream);
    if (run?.last === revision - 1) run.last = revision;
    else {
      const next = { stream, first: revision - 1, last: revision };
      runs.push(next);
      newest.set(stream, next);
    }
  }
  const { rows } = await db.query(
    `select w.run::int, l.revision, l.event_id, l.hash, l.person_tag
       from unnest($1::text[], $2::bigint[], $3::bigint[]) with ordinality as w (stream, first, last, run)
      cross join lateral (select * from leaves where stream = w.stream and revision between w.first and w.last offset 0) l`,
    [runs.map(({ stream }) => stream), runs.map(({ first }) => first), runs.map(({ last }) => last)],
  );
  return new Map(LeafRows.parse(rows).map((leaf) => [`${runs[leaf.run - 1]?.stream} ${leaf.revision}`, leaf]));
}

function checkLeaf({ findings }: Section, event: LoggedEvent, leaf: Leaf, before: Leaf | undefined): void {
  const head = before === undefined ? NOTHING_SEALED : { revision: before.revision, leaf: toHex(before.hash) };
  try {
    const wanted = leafOf(event, head, leaf.person_tag);
    if (toHex(wanted.hash) === toHex(leaf.hash) && leaf.event_id === event.id) return;
  } catch (error) {
    if (!(error instanceof InvalidEventBody || error instanceof RangeError)) throw error;
  }
  findings.add({
    kind: 'event-altered',
    table: TABLE,
    key: event.id,
    detail: 'the event and its leaf do not match: the event, the leaf or the one before was altered',
  });
}

const ErasedRows = z.array(z.object({ event_id: z.string() }));
const TokenRows = z.array(z.object({ id: z.string(), consumed_by: z.string().nullable() }));

/** Checks what belongs to the consents among the events. */
async function checkRecords(section: Section, events: readonly LoggedEvent[]): Promise<void> {
  const { db, keyring, findings } = section;
  const consents = events.flatMap((event) => {
    const content = recordOf(event);
    return content === null ? [] : [{ event, ...content }];
  });
  if (consents.length === 0) return;
  const ids = consents.map(({ event }) => event.id);
  // One snapshot: an erasure deletes the key and notes the record in one transaction.
  const { rows } = await db.query(
    `select ${keyRowColumns('k')}, false as erased from record_keys k where k.event_id = any($1::uuid[])`,
    [ids],
  );
  const keys = new Map(keyRowsOf(rows).map((row): [string, KeyRow] => [row.event_id, row]));
  const erased = new Set(
    ErasedRows.parse(
      (await db.query('select event_id from erased_records where event_id = any($1::uuid[])', [ids])).rows,
    ).map((row) => row.event_id),
  );
  for (const key of keys.keys())
    if (erased.has(key) && (await stillBoth(section, key)))
      findings.add({
        kind: 'reference-differs',
        table: 'erased_records',
        key,
        detail: 'the record counts as erased and has a key',
      });
  const open = new Map((await openKnownRows(keyring, [...keys.values()])).map((row) => [row.eventId, row]));
  const attachments = await storedAttachments(db, ids);
  const tokens = consents.flatMap(({ record }) => record.approval_token_id ?? []);
  const stored = new Map(
    TokenRows.parse(
      (await db.query('select id, consumed_by from approval_tokens where id = any($1)', [tokens])).rows,
    ).map((row) => [row.id, row.consumed_by]),
  );
  for (const { event, record, body } of consents) {
    const row = open.get(event.id);
    if (row === undefined) continue;
    if (row.siteId !== record.site_id)
      findings.add({
        kind: 'reference-differs',
        table: 'record_keys',
        key: event.id,
        detail: 'the key is of another site than the record',
      });
    if (body.disclosures !== null && !canOpen(row.key, event.id, body.disclosures))
      findings.add({
        kind: 'content-altered',
        table: TABLE,
        key: event.id,
        columns: ['data'],
        detail: 'its disclosures cannot be decrypted',
      });
    await auditAttachments(section, {
      eventId: event.id,
      key: row.key,
      siteId: record.site_id,
      ids: body.attachments,
      stored: attachments(event.id),
    });
    const token = record.approval_token_id;
    if (token !== null && stored.get(token) !== event.id && !(await isErased(section, event.id)))
      findings.add({
        kind: 'reference-differs',
        table: 'approval_tokens',
        key: token,
        columns: ['consumed_by'],
        detail: `the record ${event.id} used this token, and its row does not say so`,
      });
  }
}

function canOpen(key: Uint8Array, eventId: string, disclosures: string): boolean {
  try {
    const blob = fromBase64(disclosures);
    if (blob === null) return false;
    decryptForRecord(key, eventId, 'disclosures', blob);
    return true;
  } catch (error) {
    if (error instanceof KeyError) return false;
    throw error;
  }
}

const Both = z.array(z.object({ both: z.boolean() }));

async function stillBoth({ db }: Section, eventId: string): Promise<boolean> {
  const { rows } = await db.query(
    `select exists (select from record_keys where event_id = $1) and exists (select from erased_records where event_id = $1) as both`,
    [eventId],
  );
  return Both.parse(rows)[0]?.both === true;
}

/** An erasure between two statements of this audit. */
async function isErased({ db }: Section, eventId: string): Promise<boolean> {
  const { rowCount } = await db.query('select from erased_records where event_id = $1', [eventId]);
  return rowCount === 1;
}

function recordOf(event: LoggedEvent): { readonly record: SealedConsent; readonly body: ConsentRecordedBody } | null {
  const { type, data } = event;
  if (!isConsentType(type)) return null;
  try {
    const { recordText, consent } = sealedContent(event);
    if (consent !== null) return consent;
    return {
      record: parseConsent(type, recordText),
      body: parseBody(ConsentRecordedBody, type, data),
    };
  } catch (error) {
    if (error instanceof InvalidEventBody || error instanceof SyntaxError) return null;
    throw error;
  }
}

const NotedRows = z.array(
  z.object({ event_id: z.string(), site_id: z.string(), reason: z.string(), erasure_event_id: z.string().nullable() }),
);

/** Each announced erasure must have been carried out. */
async function checkErasures(section: Section, events: readonly LoggedEvent[]): Promise<void> {
  const { db, findings } = section;
  const erasures = events.flatMap((event) => {
    const record = event.type === SUBJECT_ERASED ? erasureOf(event) : null;
    return record === null ? [] : [record];
  });
  if (erasures.length === 0) return;
  const { rows } = await db.query(
    `select event_id, site_id, reason, erasure_event_id from erased_records where event_id = any($1::uuid[])`,
    [erasures.map((record) => record.erased_event_id)],
  );
  const noted = new Map(NotedRows.parse(rows).map((row) => [row.event_id, row]));
  const known = await db.query('select event_id from erasure_events where event_id = any($1::uuid[])', [
    erasures.map((record) => record.event_id),
  ]);
  const announced = new Set(ErasedRows.parse(known.rows).map((row) => row.event_id));
  for (const record of erasures) {
    const key = record.erased_event_id;
    if (!announced.has(record.event_id))
      findings.add({
        kind: 'reference-differs',
        table: 'erasure_events',
        key: record.event_id,
        detail: 'the log has this erasure, the table does not',
      });
    const row = noted.get(key);
    if (row === undefined) {
      findings.add({
        kind: 'reference-differs',
        table: 'erased_records',
        key,
        detail: 'the log names this record as erased, the table does not',
      });
      continue;
    }
    const columns = [
      ...(row.site_id === record.site_id ? [] : ['site_id']),
      ...(row.reason === record.reason ? [] : ['reason']),
      ...(row.erasure_event_id === record.event_id || (await isAnotherOf(section, row.erasure_event_id, record))
        ? []
        : ['erasure_event_id']),
    ];
    if (columns.length > 0)
      findings.add({
        kind: 'reference-differs',
        table: 'erased_records',
        key,
        columns,
        detail: `the log says otherwise in event ${record.event_id}`,
      });
  }
}

function erasureOf(event: LoggedEvent): SubjectErasedRecord | null {
  try {
    return parseRecord(SUBJECT_ERASED, sealedContent(event).recordText);
  } catch (error) {
    if (error instanceof InvalidEventBody) return null;
    throw error;
  }
}

const PlaceRows = z.array(z.object({ stream: z.string(), revision: z.number() }));

/** After a restore, a log may announce one record twice. */
async function isAnotherOf(
  { db, eventLog }: Section,
  id: string | null,
  record: SubjectErasedRecord,
): Promise<boolean> {
  if (id === null) return false;
  const { rows } = await db.query('select stream, revision from leaves where event_id = $1', [id]);
  const [place] = PlaceRows.parse(rows);
  const [event] = place === undefined ? [] : await readPastGaps(eventLog, place.stream, place.revision, 1);
  if (event === undefined || event.revision !== place?.revision || event.type !== SUBJECT_ERASED) return false;
  return parseRecord(SUBJECT_ERASED, sealedContent(event).recordText).erased_event_id === record.erased_event_id;
}
