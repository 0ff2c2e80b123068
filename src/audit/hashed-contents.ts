import * as z from 'zod';
import { PAGE, pagesOf } from './pages.js';
import type { Section } from './section.js';

const HashRows = z.array(z.object({ sha256: z.string(), is_genuine: z.boolean() }));

/** Compares the contents of a table with the hashes under which they are kept. */
export async function auditHashedContents(
  { db, findings, step }: Section,
  content: { readonly table: string; readonly column: string; readonly detail: string },
): Promise<void> {
  const { table, column, detail } = content;
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      `select sha256, encode(sha256(${column}), 'hex') = sha256 as is_genuine from ${table}
        where $2::text is null or sha256 > $2 order by sha256 limit $1`,
      [PAGE, after],
    );
    return HashRows.parse(rows);
  };
  let done = 0;
  for await (const page of pagesOf(read, (row) => row.sha256)) {
    for (const row of page)
      if (!row.is_genuine)
        findings.add({ kind: 'content-altered', table, key: row.sha256, columns: ['sha256', column], detail });
    done += page.length;
    await step(done, null);
  }
}
