import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type { LockedSite } from '../sites/change-site.js';

type Client = LockedSite['db'];

/**
 * Stores the bytes of a text by SHA-256. The lock until the end of the transaction prevents their
 * removal before a version refers to them.
 * @returns the SHA-256 in hex
 */
export async function keepContent(client: Client, bytes: Uint8Array): Promise<string> {
  const contentSha256 = toHex(sha256(bytes));
  await lockContents(client);
  await client.query('insert into notice_contents (sha256, content) values ($1, $2) on conflict do nothing', [
    contentSha256,
    Buffer.from(bytes),
  ]);
  return contentSha256;
}

/**
 * Deletes the bytes of a text to which no version refers, so that the text of a deleted draft is
 * not kept.
 */
export async function dropUnusedContent(client: Client, contentSha256: string): Promise<void> {
  await lockContents(client);
  await client.query(
    `delete from notice_contents where sha256 = $1
        and not exists (select from document_versions where content_sha256 = $1)`,
    [contentSha256],
  );
}

// Contents are shared by hash, also between tenants, so that one lock covers all.
async function lockContents(client: Client): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(hashtextextended('notice contents', 0))`);
}
