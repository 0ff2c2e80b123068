import * as z from 'zod';
import type { LedgerKey } from '../../../schemas/api/checkpoints.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { sealedContent } from '../../../schemas/events/sealed-event.js';
import { POLICY_STREAM } from '../../../schemas/events/streams.js';
import { BatchHeader } from '../../../schemas/evidence/batch-header.js';
import { entryText } from '../../../schemas/evidence/entry.js';
import { inclusionRanges } from '../../../schemas/merkle/proofs.js';
import type { Queryable } from '../../platform/database/pool.js';
import { readBatchPath } from './batch-nodes.js';
import { readTreeProof } from './read-tree.js';

const KeyRows = z.array(z.object({ key: z.string(), ml_dsa_key: z.string() }));

/** Every pair of keys that has signed checkpoints alone, oldest first; the last one is in force. */
export async function readLedgerKeys(db: Queryable): Promise<readonly Pick<LedgerKey, 'key' | 'ml_dsa_key'>[]> {
  const { rows } = await db.query('select key, ml_dsa_key from ledger_keys order by handover_size nulls first');
  return KeyRows.parse(rows);
}

const Bytes = z.instanceof(Uint8Array);
const PublishedRows = z.array(
  z.object({
    key: z.string(),
    ml_dsa_key: z.string(),
    replaces: z.string().nullable(),
    published_at: z.date(),
    handover: z
      .object({ size: z.int(), note: z.string(), batch: z.int(), header: z.string(), index: z.int() })
      .nullable(),
    revision: z.int().nullable(),
    event_id: z.string().nullable(),
    type: z.string().nullable(),
    body: Bytes.nullable(),
    previous: Bytes.nullable(),
  }),
);

/** The keys as `readLedgerKeys`, each with the proof that the keys before announced it. */
export async function readPublishedKeys(db: Queryable): Promise<readonly LedgerKey[]> {
  const { rows } = await db.query(
    `select k.key, k.ml_dsa_key, k.replaces, k.published_at, p.revision, p.event_id, p.type, p.body, before.hash as previous,
            case when k.handover_size is not null then jsonb_build_object(
              'size', c.size, 'note', c.note, 'batch', l.batch, 'header', b.header, 'index', l.index) end as handover
       from ledger_keys k
       left join ledger_policies p on p.revision = k.announced_in
       left join checkpoints c on c.size = k.handover_size
       left join leaves l on l.stream = $1 and l.revision = k.announced_in
       left join batches b on b.number = l.batch
       left join leaves before on before.stream = $1 and before.revision = k.announced_in - 1
      order by k.handover_size nulls first`,
    [POLICY_STREAM],
  );
  const keys: LedgerKey[] = [];
  for (const row of PublishedRows.parse(rows)) {
    const { key, ml_dsa_key, replaces, published_at: publishedAt } = row;
    const announcement = await announcementOf(db, row);
    keys.push({ key, ml_dsa_key, replaces, announcement, published_at: publishedAt.toISOString() });
  }
  return keys;
}

/** @throws Error if a row that the tables must have is missing */
async function announcementOf(
  db: Queryable,
  row: z.infer<typeof PublishedRows>[number],
): Promise<LedgerKey['announcement']> {
  const { handover, revision, event_id: eventId, type, body, previous } = row;
  if (handover === null) return null;
  if (revision === null || eventId === null || type === null || body === null)
    throw new Error('the announcement of a key of the ledger is missing');
  const { size, note, batch, header, index } = handover;
  const { count } = BatchHeader.parse(JSON.parse(header));
  const path = await readTreeProof(db, inclusionRanges(batch, size));
  const entryPath = await readBatchPath(db, batch, index, count);
  if (path === null || entryPath === null) throw new Error('a node of the ledger tree is missing');
  const { recordText, proofHash } = sealedContent({ type, data: body });
  const entry = entryText({
    ...{ stream: POLICY_STREAM, revision, eventId, type, recordText, proofHash, personTag: null },
    previous: previous && toHex(previous),
  });
  return { note, header, path: path.map(toHex), entry, index, entry_path: entryPath.map(toHex) };
}
