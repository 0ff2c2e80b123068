import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toBase64, toHex } from '../../../schemas/crypto/encoding.js';
import {
  type CheckpointStampedBody,
  EVIDENCE_KEPT,
  EVIDENCE_PART_BYTES,
  type EvidenceKind,
} from '../../../schemas/events/ledger.js';
import type { Queryable } from '../../platform/database/pool.js';
import type { ObtainedTimestamp } from '../../timestamping/client.js';
import { nextRun } from '../event-log/append-exactly-once.js';
import { eventSize } from '../event-log/event-checks.js';
import type { EventLog, NewEvent } from '../event-log/port.js';
import { ledgerEvent, tryAppendToLedger } from '../ledger/append-to-ledger.js';
import { catchUpLedger } from '../ledger/apply-ledger.js';
import type { FollowedLedger } from '../ledger/ledger-state.js';

/** Sorted SHA-256 digests, in hex, of what was collected with a time stamp. */
export type EvidenceDigests = Pick<CheckpointStampedBody, 'certificates' | 'crls' | 'ocsp'>;

export function evidenceDigests(stamp: ObtainedTimestamp): EvidenceDigests {
  const digestsOf = (items: readonly Uint8Array[]): string[] =>
    [...new Set(items.map((bytes) => toHex(sha256(bytes))))].sort();
  return {
    certificates: digestsOf(stamp.certificates),
    crls: digestsOf(stamp.crls),
    ocsp: digestsOf(stamp.ocspResponses),
  };
}

/** Returns the items that were collected with a time stamp. */
export function evidenceOf({ certificates, crls, ocspResponses }: ObtainedTimestamp): readonly EvidenceItem[] {
  return [
    ...certificates.map((bytes): EvidenceItem => ({ kind: 'certificate', bytes })),
    ...crls.map((bytes): EvidenceItem => ({ kind: 'crl', bytes })),
    ...ocspResponses.map((bytes): EvidenceItem => ({ kind: 'ocsp', bytes })),
  ];
}

export interface EvidenceItem {
  readonly kind: EvidenceKind;
  readonly bytes: Uint8Array;
}

/** The ledger, and the events that are to be appended together with the one that names them. */
export interface KeptEvidence {
  readonly ledger: FollowedLedger;
  readonly rest: readonly NewEvent[];
}

/**
 * Appends to `ledger` what evidence needs and the ledger lacks, until the rest fits into one append together with the
 * event that names it. The bytes are therefore in the log whenever that event is.
 * @param from the ledger at its end
 * @param reservedBytes size of that event, see `eventSize`; if it is `maxAppendBytes`, everything is appended before
 * @throws the errors of `tryAppendToLedger` and `catchUpLedger`
 */
export async function keepEvidence(
  db: Queryable,
  eventLog: EventLog,
  from: FollowedLedger,
  items: readonly EvidenceItem[],
  reservedBytes: number,
): Promise<KeptEvidence> {
  const parts = new Map(items.flatMap(partsOfItem).map((one) => [nameOf(one), one]));
  let ledger = from;
  for (;;) {
    const rest = await withoutKept(db, [...parts.values()]);
    const bytes = rest.reduce((sum, event) => sum + eventSize(event), reservedBytes);
    if (bytes <= eventLog.maxAppendBytes) return { ledger, rest };
    await tryAppendToLedger(eventLog, ledger, ...nextRun(rest, 0, eventLog.maxAppendBytes));
    ledger = await catchUpLedger(db, eventLog, { from: ledger });
  }
}

/**
 * Appends to `ledger` the texts of all published document versions that it lacks. Call it before a checkpoint is
 * stamped. Every publication that the checkpoint covers was committed together with its text.
 * @param from the ledger at its end
 * @returns the ledger with all of them
 * @throws as `keepEvidence`
 */
export async function keepNotices(db: Queryable, eventLog: EventLog, from: FollowedLedger): Promise<FollowedLedger> {
  // The parts of an item are appended in order.
  const { rows } = await db.query(
    `select sha256 from notice_contents c
      where exists (select from document_versions v where v.content_sha256 = c.sha256 and v.state <> 'draft')
        and not exists (select from evidence_parts p where p.sha256 = c.sha256 and p.part = p.parts - 1)`,
  );
  let ledger = from;
  for (const { sha256: digest } of DigestRows.parse(rows)) {
    const { rows: found } = await db.query('select content from notice_contents where sha256 = $1', [digest]);
    const [row] = ContentRows.parse(found);
    // If a text was altered, the audit reports it.
    if (row === undefined || toHex(sha256(row.content)) !== digest) continue;
    const item: EvidenceItem = { kind: 'notice', bytes: row.content };
    ({ ledger } = await keepEvidence(db, eventLog, ledger, [item], eventLog.maxAppendBytes));
  }
  return ledger;
}

const DigestRows = z.array(z.object({ sha256: z.string() }));
const ContentRows = z.array(z.object({ content: z.instanceof(Uint8Array) }));

interface EvidencePart {
  readonly sha256: string;
  readonly parts: number;
  readonly part: number;
  readonly event: NewEvent;
}

function partsOfItem({ kind, bytes }: EvidenceItem): readonly EvidencePart[] {
  const digest = toHex(sha256(bytes));
  const parts = Math.ceil(bytes.length / EVIDENCE_PART_BYTES);
  return Array.from({ length: parts }, (_, part) => {
    const data = toBase64(bytes.subarray(part * EVIDENCE_PART_BYTES, (part + 1) * EVIDENCE_PART_BYTES));
    const event = ledgerEvent(EVIDENCE_KEPT, { v: 1, kind, sha256: digest, part, parts, data });
    return { sha256: digest, parts, part, event };
  });
}

const KeptRows = z.array(z.object({ sha256: z.string(), parts: z.int(), part: z.int() }));

/** @returns the events of the parts that the ledger does not have */
async function withoutKept(db: Queryable, all: readonly EvidencePart[]): Promise<readonly NewEvent[]> {
  const { rows } = await db.query('select sha256, parts, part from evidence_parts where sha256 = any($1::text[])', [
    [...new Set(all.map((one) => one.sha256))],
  ]);
  const kept = new Set(KeptRows.parse(rows).map(nameOf));
  return all.filter((one) => !kept.has(nameOf(one))).map(({ event }) => event);
}

function nameOf({ sha256, parts, part }: Omit<EvidencePart, 'event'>): string {
  return `${sha256} ${parts} ${part}`;
}
