import { v7 as uuidV7 } from 'uuid';
import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { ExportFailed } from './errors.js';

/** The database row of an export, through which an erasure can stop it. */
export class ExportRow {
  private constructor(
    readonly db: Queryable,
    readonly id: string,
  ) {}

  /** Registers a running export. From then on, an erasure of the site stops it. */
  static async start(db: Queryable, siteId: string, requestedBy: string): Promise<ExportRow> {
    const id = uuidV7();
    // Each change is a transaction, which seals the row.
    await withTransaction(db, (db) =>
      db.query(`insert into exports (id, site_id, state, requested_by) values ($1, $2, 'running', $3)`, [
        id,
        siteId,
        requestedBy,
      ]),
    );
    return new ExportRow(db, id);
  }

  /** Checks that no erasure has stopped the export. @throws ExportFailed `cancelled-by-erasure` */
  async assertRunning(): Promise<void> {
    const { rowCount } = await this.db.query(`select from exports where id = $1 and state = 'running'`, [this.id]);
    if (rowCount !== 1) throw cancelled();
  }

  /**
   * Finishes the export. After this update, an erasure can no longer stop it.
   * @throws ExportFailed `cancelled-by-erasure`
   */
  async finish(): Promise<void> {
    const { rowCount } = await withTransaction(this.db, (db) =>
      db.query(`update exports set state = 'finished', ended_at = now() where id = $1 and state = 'running'`, [
        this.id,
      ]),
    );
    if (rowCount !== 1) throw cancelled();
  }

  async fail(): Promise<void> {
    await withTransaction(this.db, (db) =>
      db.query(
        `update exports set state = 'failed', ended_at = now() where id = $1 and state in ('running', 'finished')`,
        [this.id],
      ),
    );
  }
}

function cancelled(): ExportFailed {
  return new ExportFailed(
    'cancelled-by-erasure',
    'Personal data of the site was erased while the package was made. Export again.',
  );
}
