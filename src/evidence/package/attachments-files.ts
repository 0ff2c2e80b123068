import * as z from 'zod';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
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
  // A missing key is most likely due to a concurrent erasure, which is no inconsistency.
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
