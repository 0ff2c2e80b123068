import type { KeyObject } from 'node:crypto';
import { z } from 'zod';
import { type Queryable, withTransaction } from '../database/pool.js';
import { KeyError } from './errors.js';
import { unwrapKey, wrapKey } from './wrapping.js';

/**
 * Purpose of a key. The owner is the site's id for `site`, the tenant's id for `proof`, and null
 * for the others.
 */
export type KeyPurpose =
  | 'site'
  | 'proof'
  | 'ledger'
  | 'next-ledger'
  | 'manifest'
  | 'promise'
  | 'jwt'
  | 'throttle'
  | 'row-seal';

/** A key of the keyring, unwrapped. */
export interface StoredKey {
  readonly keyId: string;
  readonly ownerId: string | null;
  /** Secret key, or the seed of an Ed25519 key: 32 bytes. */
  readonly secret: Buffer;
  /** Raw Ed25519 public key (32 bytes) of signing keys. */
  readonly publicKey: Buffer | null;
  readonly retiredAt: Date | null;
}

/** A key before it is stored. */
export interface NewKey {
  readonly keyId: string;
  readonly secret: Buffer;
  readonly publicKey: Buffer | null;
}

export const CHECK_KEY_ID = 'master-check';
export const CHECK_PURPOSE = 'master-check';

const rowSchema = z.object({
  key_id: z.string(),
  purpose: z.string(),
  owner_id: z.uuid().nullable(),
  wrapped: z.instanceof(Buffer),
  public_key: z.instanceof(Buffer).nullable(),
  retired_at: z.date().nullable(),
});
const COLUMNS = 'key_id, purpose, owner_id, wrapped, public_key, retired_at';

/** The rows of `keyring`, wrapped and unwrapped with one master key. */
export class KeyringStore {
  private constructor(
    private readonly db: Queryable,
    private readonly master: KeyObject,
    private readonly check: Buffer,
  ) {}

  /**
   * Opens the keyring and verifies that the master key is the one that wraps its keys.
   * @throws KeyError `wrong_master_key`
   */
  static async open(db: Queryable, master: KeyObject): Promise<KeyringStore> {
    const identity = { keyId: CHECK_KEY_ID, purpose: CHECK_PURPOSE, ownerId: null };
    await db.query(
      'INSERT INTO keyring (key_id, purpose, owner_id, wrapped) VALUES ($1, $2, NULL, $3) ON CONFLICT DO NOTHING',
      [CHECK_KEY_ID, CHECK_PURPOSE, wrapKey(master, Buffer.alloc(32), identity)],
    );
    const { rows } = await db.query(`SELECT ${COLUMNS} FROM keyring WHERE key_id = $1`, [CHECK_KEY_ID]);
    const [{ wrapped }] = z.tuple([rowSchema]).parse(rows);
    try {
      unwrapKey(master, wrapped, identity);
    } catch (error) {
      throw new KeyError(
        'wrong_master_key',
        'This master key does not unwrap the keys in the database. Set MASTER_KEY (or MASTER_KEY_FILE, or ' +
          'DATA_DIR/master.key) to the key that this database was first started with, or last rotated to.',
        { cause: error },
      );
    }
    return new KeyringStore(db, master, wrapped);
  }

  /** @returns the current key, or `undefined` */
  async current(purpose: KeyPurpose, ownerId: string | null): Promise<StoredKey | undefined> {
    // No index serves IS NOT DISTINCT FROM: it would read the keys of all sites.
    if (ownerId !== null) return (await this.currentOf(purpose, [ownerId]))[0];
    const { rows } = await this.db.query(
      `SELECT ${COLUMNS} FROM keyring WHERE purpose = $1 AND owner_id IS NULL AND retired_at IS NULL`,
      [purpose],
    );
    return this.unwrapAll(rows)[0];
  }

  /** @returns the current keys of these owners that exist */
  async currentOf(purpose: KeyPurpose, ownerIds: readonly string[]): Promise<StoredKey[]> {
    const { rows } = await this.db.query(
      `SELECT ${COLUMNS} FROM keyring WHERE purpose = $1 AND owner_id = ANY($2::uuid[]) AND retired_at IS NULL`,
      [purpose, ownerIds],
    );
    return this.unwrapAll(rows);
  }

  /** @returns the key of this purpose with this id, current or retired, or `undefined` */
  async byId(purpose: KeyPurpose, keyId: string): Promise<StoredKey | undefined> {
    const { rows } = await this.db.query(`SELECT ${COLUMNS} FROM keyring WHERE purpose = $1 AND key_id = $2`, [
      purpose,
      keyId,
    ]);
    return this.unwrapAll(rows)[0];
  }

  /**
   * Returns the current key. If there is none, the result of `make()` is stored as the first one;
   * of several processes one wins. Nothing is stored after another process has rotated the master
   * key, because the new one could not unwrap it.
   * @throws KeyError `wrong_master_key` in that case
   */
  async currentOrCreate(purpose: KeyPurpose, ownerId: string | null, make: () => NewKey): Promise<StoredKey> {
    const existing = await this.current(purpose, ownerId);
    if (existing !== undefined) return existing;
    await this.insert(this.db, purpose, ownerId, make());
    const kept = await this.current(purpose, ownerId);
    if (kept !== undefined) return kept;
    throw masterKeyReplaced();
  }

  /**
   * Makes the current key of purpose `from` the current key of purpose `to`, in one transaction,
   * and retires the previous one. Does nothing if there is no key to promote, so it can be repeated
   * after a crash.
   * @throws KeyError `wrong_master_key` after another process has rotated the master key
   */
  async promote(from: KeyPurpose, to: KeyPurpose, keyId: string): Promise<void> {
    await withTransaction(this.db, async (db) => {
      const retire = `UPDATE keyring SET retired_at = now() WHERE purpose = $1 AND owner_id IS NULL AND retired_at IS NULL
        RETURNING ${COLUMNS}`;
      const [promoted] = this.unwrapAll((await db.query(retire, [from])).rows);
      if (promoted === undefined) return;
      await db.query(retire, [to]);
      const isKept = await this.insert(db, to, null, {
        keyId,
        secret: promoted.secret,
        publicKey: promoted.publicKey,
      });
      if (!isKept) throw masterKeyReplaced();
    });
  }

  /**
   * Retires the current key of an installation's purpose and stores a new current one, in the
   * caller's transaction.
   * @param terms in seconds from now: when the new key signs first, and how long the previous one
   *   verifies
   * @throws KeyError `wrong_master_key` after another process has rotated the master key
   */
  async replace(
    db: Queryable,
    purpose: KeyPurpose,
    made: NewKey,
    terms: { readonly signsIn: number; readonly formerVerifiesFor: number },
  ): Promise<void> {
    // Serializes replacements: two concurrent ones would find the same key to retire.
    await db.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`consent-ledger key ${purpose}`]);
    await db.query(
      `UPDATE keyring SET retired_at = clock_timestamp(), verifies_until = clock_timestamp() + make_interval(secs => $2)
        WHERE purpose = $1 AND owner_id IS NULL AND retired_at IS NULL`,
      [purpose, terms.formerVerifiesFor],
    );
    if (!(await this.insert(db, purpose, null, made, terms.signsIn))) throw masterKeyReplaced();
  }

  /**
   * @returns whether it was stored: false if a current key exists, or another process has rotated
   *   the master key
   */
  private async insert(
    db: Queryable,
    purpose: KeyPurpose,
    ownerId: string | null,
    { keyId, secret, publicKey }: NewKey,
    signsIn: number | null = null,
  ): Promise<boolean> {
    const { rowCount } = await db.query(
      `INSERT INTO keyring (key_id, purpose, owner_id, wrapped, public_key, signs_from)
       SELECT $1, $2, $3, $4, $5, clock_timestamp() + make_interval(secs => $8)
        WHERE EXISTS (SELECT FROM keyring WHERE key_id = $6 AND wrapped = $7)
       ON CONFLICT DO NOTHING`,
      [
        ...[keyId, purpose, ownerId, wrapKey(this.master, secret, { keyId, purpose, ownerId }), publicKey],
        ...[CHECK_KEY_ID, this.check, signsIn],
      ],
    );
    return rowCount === 1;
  }

  private unwrapAll(rows: unknown[]): StoredKey[] {
    return z
      .array(rowSchema)
      .parse(rows)
      .map((row) => ({
        keyId: row.key_id,
        ownerId: row.owner_id,
        secret: unwrapKey(this.master, row.wrapped, { keyId: row.key_id, purpose: row.purpose, ownerId: row.owner_id }),
        publicKey: row.public_key,
        retiredAt: row.retired_at,
      }));
  }
}

function masterKeyReplaced(): KeyError {
  return new KeyError(
    'wrong_master_key',
    'The master key was replaced while this process ran: restart it with the new one.',
  );
}
