import { z } from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { Queryable } from '../../platform/database/pool.js';
import { differ } from './errors.js';
import type { FileSink } from './package-writer.js';

/**
 * Adds `notices/`: the exact bytes of document versions and configurations, named by SHA-256.
 * @throws ExportFailed `log-and-ledger-differ` if a published text is missing
 */
export async function addNotices(
  writer: FileSink,
  db: Queryable,
  siteId: string,
  contents: ReadonlySet<string>,
  configurations: ReadonlySet<string>,
): Promise<void> {
  for (const sha of contents) {
    const { rows } = await db.query('select content from notice_contents where sha256 = $1', [sha]);
    const [row] = z.array(z.object({ content: z.instanceof(Uint8Array) })).parse(rows);
    await add(writer, sha, row?.content);
  }
  for (const sha of configurations) {
    if (contents.has(sha)) continue;
    const { rows } = await db.query('select record from site_configs where sha256 = $1 and site_id = $2', [
      sha,
      siteId,
    ]);
    const [row] = z.array(z.object({ record: z.string() })).parse(rows);
    await add(writer, sha, row === undefined ? undefined : utf8(row.record));
  }
}

async function add(writer: FileSink, sha: string, content: Uint8Array | undefined): Promise<void> {
  if (content === undefined || toHex(sha256(content)) !== sha) {
    differ(`the text with SHA-256 ${sha} was published, but is not kept`);
  }
  await writer.add(PACKAGE_FILES.notice(sha), [content]);
}
