import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { Queryable } from '../../platform/database/pool.js';
import { differ } from './errors.js';
import type { FileSink } from './package-writer.js';

/**
 * Adds `notices/`: the exact bytes of document versions and configurations, named by SHA-256.
 * @param configurations records of configurations as JCS text, by SHA-256
 * @throws ExportFailed `log-and-ledger-differ` if a published text is missing
 */
export async function addNotices(
  writer: FileSink,
  db: Queryable,
  contents: ReadonlySet<string>,
  configurations: ReadonlyMap<string, string>,
): Promise<void> {
  for (const sha of contents) {
    // The ledger has the texts that a restored database lacks.
    const { rows } = await db.query(
      'select content from notice_contents where sha256 = $1 union all select bytes from kept_evidence where sha256 = $1',
      [sha],
    );
    const found = ContentRows.parse(rows).find(({ content }) => toHex(sha256(content)) === sha);
    if (found === undefined) differ(`the text with SHA-256 ${sha} was published, but is not kept`);
    await writer.add(PACKAGE_FILES.notice(sha), [found.content]);
  }
  for (const [sha, text] of configurations)
    if (!contents.has(sha)) await writer.add(PACKAGE_FILES.notice(sha), [utf8(text)]);
}

const ContentRows = z.array(z.object({ content: z.instanceof(Uint8Array) }));
