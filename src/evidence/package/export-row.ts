import { type Queryable, withTransaction } from '../../platform/database/pool.js';
import { enterState, isRunning, startExport } from '../../platform/export-states.js';
import { ExportFailed } from './errors.js';

/** The database row of an export that this process runs immediately. An erasure stops the export through this row. */
export class ExportRow {
  private constructor(
    readonly db: Queryable,
    readonly id: string,
  ) {}

  /** Registers a running export. From then on, an erasure of the site stops it. */
  static async start(db: Queryable, siteId: string, requestedBy: string): Promise<ExportRow> {
    return new ExportRow(db, await startExport(db, siteId, requestedBy));
  }

  /** Checks that no erasure has stopped the export. @throws ExportFailed `cancelled-by-erasure` */
  async assertRunning(): Promise<void> {
    if (!(await isRunning(this.db, this.id))) throw cancelled();
  }

  /**
   * Finishes the export. After this update, an erasure can no longer stop it.
   * @throws ExportFailed `cancelled-by-erasure`
   */
  async finish(): Promise<void> {
    if (!(await this.#enter('finished'))) throw cancelled();
  }

  async fail(): Promise<void> {
    await this.#enter('failed');
  }

  #enter(state: 'finished' | 'failed'): Promise<boolean> {
    const reason = state === 'failed' ? 'error' : null;
    return withTransaction(this.db, (db) => enterState(db, this.id, state, { claim: null, reason }));
  }
}

function cancelled(): ExportFailed {
  return new ExportFailed(
    'cancelled-by-erasure',
    'Personal data of the site was erased while the package was made. Export again.',
  );
}
