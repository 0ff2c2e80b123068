import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../../schemas/crypto/encoding.js';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { Queryable } from '../../platform/database/pool.js';
import { decryptForRecord, type RecordKeyring } from '../../platform/keys/index.js';
import type { WantedAttachments } from './entries-file.js';
import { differ } from './errors.js';
import type { FileSink } from './package-writer.js';
import { readRecordKeys } from './personal-data.js';

export interface AttachmentsOptions {
  readonly db: Queryable;
  readonly siteId: string;
  readonly keyring: RecordKeyring;
  /** Throws if an erasure has stopped the export. */
  readonly assertRunning: () => Promise<void>;
}

const attachmentRows = z.array(z.object({ id: z.string(), ciphertext: z.instanceof(Uint8Array) }));

/**
 * Adds `attachments/`: the decrypted contents that disclosures name, each once.
 * @returns the number of files
 * @throws ExportFailed `log-and-ledger-differ` if an attachment is missing
 */
export async function addAttachments(
  writer: FileSink,
  options: AttachmentsOptions,
  wanted: readonly WantedAttachments[],
): Promise<number> {
  const added = new Set<string>();
  for (const record of wanted) {
    const missing = record.digests.filter((digest) => !added.has(digest));
    if (missing.length === 0) continue;
    const contents = await readAttachments(options, record);
    for (const digest of missing) {
      if (added.has(digest)) continue;
      const content = contents.get(digest);
      if (content === undefined) differ(`an attachment that record ${record.eventId} names is not kept with it`);
      await writer.add(PACKAGE_FILES.attachment(digest), [content]);
      added.add(digest);
    }
  }
  return added.size;
}

/** Reads a record's attachments, by the SHA-256 of their contents. */
async function readAttachments(
  { db, siteId, keyring, assertRunning }: AttachmentsOptions,
  { eventId, ids }: WantedAttachments,
): Promise<ReadonlyMap<string, Uint8Array>> {
  const { keys } = await readRecordKeys(db, keyring, siteId, [eventId]);
  const { rows } = await db.query(
    'select id, ciphertext from attachments where event_id = $1 and site_id = $2 and id = any($3::uuid[])',
    [eventId, siteId, ids],
  );
  // A missing key is most likely due to a concurrent erasure, which is not an inconsistency.
  await assertRunning();
  const key = keys.get(eventId);
  const found = attachmentRows.parse(rows);
  if (key === undefined || found.length !== ids.length) differ(`the attachments of record ${eventId} are not kept`);
  return new Map(
    found.map(({ id, ciphertext }) => {
      const content = decryptForRecord(key, eventId, `attachment:${id}`, ciphertext);
      return [toHex(sha256(content)), content];
    }),
  );
}

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
    // After a restore, the ledger may name texts that the database lacks.
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
