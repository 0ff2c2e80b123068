import * as z from 'zod';
import { decryptForRecord, KeyError } from '../platform/keys/index.js';
import type { Section } from './section.js';

const Ids = z.array(z.object({ id: z.string(), event_id: z.string(), site_id: z.string() }));
const Contents = z.array(z.object({ ciphertext: z.instanceof(Uint8Array) }));

/** A record whose attachments are compared. */
interface Attached {
  readonly eventId: string;
  readonly siteId: string;
  /** Key of the record. */
  readonly key: Uint8Array;
  /** Ids of its event. */
  readonly ids: readonly string[];
  /** Sites of the stored attachments, by id. */
  readonly stored: ReadonlyMap<string, string>;
}

const NONE: ReadonlyMap<string, string> = new Map();

/**
 * Reads which attachments records have.
 * @returns for each record, the sites of its attachments by their ids
 */
export async function storedAttachments(
  db: Section['db'],
  eventIds: readonly string[],
): Promise<(eventId: string) => ReadonlyMap<string, string>> {
  const { rows } = await db.query('select id, event_id, site_id from attachments where event_id = any($1::uuid[])', [
    eventIds,
  ]);
  const found = new Map<string, Map<string, string>>();
  for (const row of Ids.parse(rows)) {
    const own = found.get(row.event_id) ?? new Map<string, string>();
    found.set(row.event_id, own.set(row.id, row.site_id));
  }
  return (eventId) => found.get(eventId) ?? NONE;
}

/** Checks that a record has the attachments of its event, and that each can be decrypted; one at a time in memory. */
export async function auditAttachments({ db, findings }: Section, record: Attached): Promise<void> {
  const { eventId, siteId, key, ids, stored } = record;
  const table = 'attachments';
  for (const id of stored.keys())
    if (!ids.includes(id))
      findings.add({ kind: 'reference-differs', table, key: id, detail: `its record ${eventId} does not name it` });
  for (const id of ids) {
    const site = stored.get(id);
    if (site === undefined) {
      if (await hasKey(db, eventId))
        findings.add({
          kind: 'reference-differs',
          table,
          key: id,
          detail: `the record ${eventId} names it, and it is missing`,
        });
      continue;
    }
    if (site !== siteId)
      findings.add({
        kind: 'reference-differs',
        table,
        key: id,
        columns: ['site_id'],
        detail: 'it is of another site than its record',
      });
    const [content] = Contents.parse((await db.query('select ciphertext from attachments where id = $1', [id])).rows);
    if (content !== undefined && !canOpen(key, eventId, id, content.ciphertext))
      findings.add({
        kind: 'content-altered',
        table,
        key: id,
        columns: ['ciphertext'],
        detail: 'it cannot be decrypted',
      });
  }
}

/** An erasure deletes key and attachments in one transaction, perhaps between two statements. */
async function hasKey(db: Section['db'], eventId: string): Promise<boolean> {
  const { rowCount } = await db.query('select from record_keys where event_id = $1', [eventId]);
  return rowCount === 1;
}

function canOpen(key: Uint8Array, eventId: string, id: string, blob: Uint8Array): boolean {
  try {
    decryptForRecord(key, eventId, `attachment:${id}`, blob);
    return true;
  } catch (error) {
    if (error instanceof KeyError) return false;
    throw error;
  }
}
