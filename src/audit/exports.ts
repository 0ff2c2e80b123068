import * as z from 'zod';
import { sha256Stream } from '../../schemas/crypto/digest.js';
import { toHex } from '../../schemas/crypto/encoding.js';
import { ExportUnreadable, findPackage, readPackage } from '../evidence/exports/index.js';
import { RequestRefused } from '../platform/errors.js';
import { KeyError } from '../platform/keys/index.js';
import { PAGE, pagesOf, type Section } from './section.js';

const Rows = z.array(z.object({ id: z.string(), site_id: z.string() }));

/** Decrypts every kept package, one piece at a time, and compares it with its hash. */
export async function auditExports({ db, keyring, findings, step }: Section): Promise<void> {
  const read = async (after: string | null) => {
    const { rows } = await db.query(
      `select j.export_id as id, j.site_id from export_jobs j join exports e on e.id = j.export_id
        where e.state = 'finished' and e.seed is not null and j.deleted_at is null ${after === null ? '' : 'and j.export_id > $2'}
        order by j.export_id limit $1`,
      after === null ? [PAGE] : [PAGE, after],
    );
    return Rows.parse(rows);
  };
  let done = 0;
  for await (const page of pagesOf(read, (row) => row.id)) {
    for (const { id, site_id: siteId } of page) {
      const problem = await problemOf({ db, keyring }, siteId, id);
      if (problem !== null) findings.add({ kind: 'content-altered', table: 'export_chunks', key: id, detail: problem });
      done += 1;
      await step(done, null);
    }
  }
}

/** @returns the problem of a package, or null if it has none or is not kept any more */
async function problemOf(
  { db, keyring }: Pick<Section, 'db' | 'keyring'>,
  siteId: string,
  exportId: string,
): Promise<string | null> {
  try {
    const found = await findPackage(db, keyring, { siteId, exportId });
    const digest = sha256Stream();
    let bytes = 0;
    for await (const piece of readPackage(db, found, { first: 0, last: found.bytes - 1 })) {
      digest.update(piece);
      bytes += piece.length;
    }
    if (toHex(digest.digest()) !== toHex(found.sha256)) return 'the package does not match its hash';
    const { rows } = await db.query('select count(*)::int as count from export_chunks where export_id = $1', [
      exportId,
    ]);
    const [{ count }] = z.tuple([z.object({ count: z.number() })]).parse(rows);
    return count === found.chunks && bytes === found.bytes ? null : 'the package has another number of pieces or bytes';
  } catch (error) {
    if (error instanceof ExportUnreadable || error instanceof KeyError || error instanceof RangeError)
      return error.message;
    if (error instanceof z.ZodError) return 'its row has a form that the service does not write';
    // The export was cancelled, deleted or erased meanwhile.
    if (error instanceof RequestRefused) return null;
    throw error;
  }
}
