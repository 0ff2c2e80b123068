import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { expireExports } from '../../platform/exports/export-states.js';

/** Chunks of about 1 MiB that one statement removes. */
const PAGE = 50;

/**
 * Ends exports whose retention period is over. Then it removes the encrypted values and the chunks
 * that have no key, and deleted exports without chunks.
 * @param db in the role `consent_ledger_worker`
 */
export async function sweepExports(db: Queryable): Promise<void> {
  await withTransaction(db, async (db) => {
    await expireExports(db);
    await db.query(
      `update export_jobs j set sealed_visitor = null, sealed_disclosures = null from exports e
        where e.id = j.export_id and e.seed is null and (j.sealed_visitor is not null or j.sealed_disclosures is not null)`,
    );
  });
  while (await removeUnreadable(db));
  await removeDeleted(db);
}

async function removeUnreadable(db: Queryable): Promise<boolean> {
  const { rowCount } = await db.query(
    `delete from export_chunks c using (
       select k.export_id, k.index from export_chunks k join exports e on e.id = k.export_id where e.seed is null limit $1) gone
      where c.export_id = gone.export_id and c.index = gone.index`,
    [PAGE],
  );
  return rowCount === PAGE;
}

async function removeDeleted(db: Queryable): Promise<void> {
  await db.query(
    `with gone as (
       delete from export_jobs j where j.deleted_at is not null
          and not exists (select from export_chunks c where c.export_id = j.export_id)
       returning j.export_id)
     delete from exports e using gone where e.id = gone.export_id`,
  );
}

/** Removes the chunks of one export that an earlier run left. */
export async function removeChunks(db: Queryable, exportId: string): Promise<void> {
  for (;;) {
    const { rowCount } = await db.query(
      `delete from export_chunks where export_id = $1
          and index in (select index from export_chunks where export_id = $1 order by index limit $2)`,
      [exportId, PAGE],
    );
    if (rowCount !== PAGE) return;
  }
}
