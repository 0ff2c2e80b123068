import * as z from 'zod';
import { int4Array, int8Array, uuidArray } from '../../platform/database/parameters.js';
import type { Queryable } from '../../platform/database/pool.js';
import { LogBehind } from '../event-log/errors.js';
import { countOf, type Placed, type Placement } from './placement.js';
import { orMoved } from './waiting.js';

const refusedRow = z.tuple([z.object({ refused: z.array(z.coerce.number().nullable()) })]);

/**
 * Places events in the `postgres` log: they get their positions, and stay where they are.
 * @param db in the role `consent_ledger_worker`
 */
export function sequenceRuns(db: Queryable): Placement {
  return {
    prepare: async () => new Map(),
    place: async (runs): Promise<readonly Placed[]> => {
      const waiting = runs.flatMap(({ rows }, place) => rows.map((row) => ({ ...row, owner: place + 1 })));
      const { rows } = await orMoved(() =>
        db.query({
          name: 'relay_sequence',
          text: `select event_log.sequence($1::integer[], $2::bigint[], $3::integer[], $4::integer[], $5::uuid[], $6::bigint[]) as refused`,
          values: [
            int4Array(runs.map(({ rows: [first] }) => first?.streamNumber ?? 0)),
            int8Array(runs.map(({ rows: [first] }) => first?.revision ?? 0)),
            int4Array(runs.map(countOf)),
            int4Array(waiting.map(({ owner }) => owner)),
            uuidArray(waiting.map(({ siteId }) => siteId)),
            int8Array(waiting.map(({ number }) => number)),
          ],
        }),
      );
      const [{ refused }] = refusedRow.parse(rows);
      return runs.map((run, place) => {
        const last = refused[place] ?? null;
        if (last === null) return { events: countOf(run), failure: null };
        return { events: 0, failure: new LogBehind(run.stream, (run.rows[0]?.revision ?? 0) - 1, last) };
      });
    },
    forget: () => undefined,
  };
}
