import { hash, randomBytes, randomUUID } from 'node:crypto';
import * as z from 'zod';
import { ApiKeyRestriction as RestrictionSchema } from '../../../schemas/api/panel/api-keys.js';
import type { Queryable } from '../../platform/database/pool.js';
import { ChangeRefused } from '../../platform/errors.js';
import { type RowSeals, readSealed, SealedTime } from '../../platform/keys/index.js';
import { changeSite, type LockedSite } from '../sites/change-site.js';

/**
 * Clients that may use a key. `publishable`: only browsers, because the key is in the source of a page; `secret`: all
 * clients except browsers. A key without a restriction works in both.
 */
export type ApiKeyRestriction = NonNullable<z.infer<typeof RestrictionSchema>>;

export interface ApiKey {
  readonly id: string;
  readonly siteId: string;
  readonly scope: 'read' | 'write';
  readonly restriction: ApiKeyRestriction | null;
  /** `test`: the key sees and changes only test records, which never leave admission. */
  readonly mode: 'live' | 'test';
}

const PREFIXES = { live: 'svc_live_', test: 'svc_test_' } as const;
const SECRET_BYTES = 32;
const SHAPE = /^svc_(?:live|test)_[A-Za-z0-9_-]{43}$/;

/** Creates an API key: `svc_live_` or `svc_test_`, and 256 random bits in base64url. */
function newApiKeySecret(mode: keyof typeof PREFIXES): string {
  return PREFIXES[mode] + randomBytes(SECRET_BYTES).toString('base64url');
}

/** Whether a text has the form of an API key. Other texts need no database look-up. */
export function isApiKeyShaped(text: string): boolean {
  return SHAPE.test(text);
}

/**
 * Returns the SHA-256 of a key, under which it is stored and looked up. The timing of a look-up by digest does not help
 * to guess a key.
 */
export function apiKeyDigest(key: string): Buffer {
  return hash('sha256', key, 'buffer');
}

/**
 * Returns the text of a publishable key, or null if it cannot be shown. A text of another form or digest is not the key:
 * somebody changed the row, and whoever copied it into a page would run foreign code, or record for another site.
 * @param text the text that the row has
 * @param digest the digest of the row
 */
export function genuineKey(text: string | null, digest: Buffer): string | null {
  return text !== null && isApiKeyShaped(text) && apiKeyDigest(text).equals(digest) ? text : null;
}

/** The start of a key, which the panel shows so that users can tell keys apart. */
function apiKeyPrefix(key: string): string {
  return key.slice(0, PREFIXES.live.length + 6);
}

export interface NewKeyOptions {
  /** Label that tells the site's keys apart; if omitted, the key has none. */
  readonly name?: string;
  /** Clients that may use the key; if omitted, all. */
  readonly restriction?: ApiKey['restriction'];
  /** `live` if omitted. */
  readonly mode?: ApiKey['mode'];
}

/** A new API key. Unless it is publishable, the key itself is returned only here. */
export interface CreatedApiKey {
  readonly id: string;
  readonly key: string;
}

/**
 * Creates an API key of a site.
 * @throws ChangeRefused `not_found`
 */
export function createApiKey(
  db: Queryable,
  siteId: string,
  scope: ApiKey['scope'],
  { name = '', restriction = null, mode = 'live' }: NewKeyOptions = {},
): Promise<CreatedApiKey> {
  return changeSite(db, siteId, (site) => insertKey(site, { scope, name, restriction, mode }));
}

/**
 * Revokes a key. Every process refuses it within a second.
 * @throws ChangeRefused `not_found`
 */
export function revokeApiKey(db: Queryable, siteId: string, keyId: string): Promise<void> {
  return changeSite(db, siteId, async ({ db: client }) => {
    const { rowCount } = await client.query(
      'update api_keys set revoked_at = coalesce(revoked_at, now()) where id = $1 and site_id = $2',
      [keyId, siteId],
    );
    if (rowCount === 0) throw noSuchKey(keyId);
  });
}

/** Changes the name of a key. @throws ChangeRefused `not_found` */
export function renameApiKey(db: Queryable, siteId: string, keyId: string, name: string): Promise<void> {
  return changeSite(db, siteId, async ({ db: client }) => {
    const { rowCount } = await client.query('update api_keys set name = $3 where id = $1 and site_id = $2', [
      keyId,
      siteId,
      name,
    ]);
    if (rowCount === 0) throw noSuchKey(keyId);
  });
}

const KeyRow = z.object({
  scope: z.enum(['read', 'write']),
  restriction: RestrictionSchema,
  name: z.string(),
  expires_at: SealedTime.nullable(),
  revoked_at: SealedTime.nullable(),
  replaced_by: z.string().nullable(),
  is_test: z.boolean().nullable(),
});

/**
 * Creates a key with the scope, restriction, mode and name of another one. The old key remains valid for a grace
 * period, so that clients can switch.
 * @param graceSeconds grace period in seconds
 * @throws ChangeRefused `not_found` (also for an altered key, whose scope must not pass to a new one), `wrong_state`
 *   (revoked, expired, or already rotated)
 */
export function rotateApiKey(
  db: Queryable,
  seals: RowSeals,
  siteId: string,
  keyId: string,
  graceSeconds: number,
): Promise<CreatedApiKey> {
  return changeSite(db, siteId, async (site) => {
    const query = { table: 'api_keys', where: 'id = $1 and site_id = $2', values: [keyId, siteId] } as const;
    const old = await readSealed(site.db, seals, query, KeyRow);
    if (old === null) throw noSuchKey(keyId);
    const { expires_at: expiresAt, revoked_at: revokedAt } = old;
    if (revokedAt !== null || (expiresAt !== null && expiresAt.getTime() <= Date.parse(site.now)))
      throw new ChangeRefused('wrong_state', 'The API key is revoked or expired. Create a new one.');
    if (old.replaced_by !== null) {
      throw new ChangeRefused('wrong_state', `The API key was already rotated: ${old.replaced_by} replaces it.`);
    }
    const made = await insertKey(site, { ...old, mode: old.is_test === true ? 'test' : 'live' });
    await site.db.query(
      "update api_keys set replaced_by = $2, expires_at = now() + $3 * interval '1 second' where id = $1",
      [keyId, made.id, graceSeconds],
    );
    return made;
  });
}

async function insertKey(
  { db: client, siteId }: LockedSite,
  { scope, restriction, mode, name }: Omit<ApiKey, 'id' | 'siteId'> & { readonly name: string },
): Promise<CreatedApiKey> {
  const id = randomUUID();
  const key = newApiKeySecret(mode);
  await client.query(
    `insert into api_keys (id, site_id, digest, prefix, scope, restriction, is_test, name, publishable_key)
     values ($1, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [
      id,
      siteId,
      apiKeyDigest(key),
      apiKeyPrefix(key),
      scope,
      restriction,
      mode === 'test' ? true : null,
      name,
      restriction === 'publishable' ? key : null,
    ],
  );
  return { id, key };
}

function noSuchKey(keyId: string): ChangeRefused {
  return new ChangeRefused('not_found', `The site has no API key ${keyId}.`);
}
