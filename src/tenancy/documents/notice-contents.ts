import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import type { LockedSite } from '../sites/change-site.js';

type Client = LockedSite['db'];

/**
 * Keeps the bytes of a text by their SHA-256, in hex. Held under a lock to the end of the transaction, so that nobody drops them before a version
 * refers to them.
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

/** Drops the bytes of a text that no version refers to any more: a dropped draft must not stay. */
export async function dropUnusedContent(client: Client, contentSha256: string): Promise<void> {
  await lockContents(client);
  await client.query(
    `delete from notice_contents where sha256 = $1
        and not exists (select from document_versions where content_sha256 = $1)`,
    [contentSha256],
  );
}

// Contents are shared by hash, also between tenants.
async function lockContents(client: Client): Promise<void> {
  await client.query(`select pg_advisory_xact_lock(hashtextextended('notice contents', 0))`);
}
