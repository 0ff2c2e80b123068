import { z } from 'zod';
import type { Projection } from '../../../projections/definition.js';
import type { Queryable } from '../../platform/database/pool.js';
import { identifier, schemaOf } from './sql.js';

/** Another projection already has a view with this name. */
export class ViewTaken extends Error {
  override readonly name = 'ViewTaken';
}

const viewRows = z.array(z.object({ view: z.string() }));

/**
 * Points the views of `read_model` to this generation and records it as the live one.
 * @param db in a transaction: readers see the old generation until it commits, and then the new one
 * @throws ViewTaken
 */
export async function showGeneration(db: Queryable, projection: Projection, generation: number): Promise<void> {
  const { name } = projection;
  const { rows } = await db.query('delete from projection_views where name = $1 returning view', [name]);
  for (const { view } of viewRows.parse(rows)) await db.query(`drop view if exists read_model.${identifier(view)}`);
  for (const table of Object.keys(projection.tables)) {
    const { rowCount } = await db.query(
      'insert into projection_views (view, name) values ($1, $2) on conflict (view) do nothing',
      [table, name],
    );
    if (rowCount !== 1) throw new ViewTaken(`Another projection has a table ${table}. Choose another name.`);
    const view = `read_model.${identifier(table)}`;
    await db.query(
      `create view ${view} as select * from ${identifier(schemaOf(name, generation))}.${identifier(table)};
       grant select on ${view} to consent_ledger_api, consent_ledger_worker, consent_ledger_auditor`,
    );
  }
  await db.query(
    `update projections set live_generation = $2, state = 'running', problem = null, changed_at = now() where name = $1`,
    [name, generation],
  );
}
