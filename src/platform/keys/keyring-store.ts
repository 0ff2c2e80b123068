import { type KeyObject, timingSafeEqual } from 'node:crypto';
import * as z from 'zod';
import { type Queryable, withTransaction } from '../database/pool.js';
import { unwrapKey, wrapKey } from './aes-gcm.js';
import { KeyError } from './errors.js';
import { hmacSha256 } from './hmac.js';

/** The columns of `keySealColumns`. */
export const KeySeal = z.object({ sealed_text: z.string(), seal: z.instanceof(Uint8Array).nullable() });
export type KeySeal = z.infer<typeof KeySeal>;

const LABEL = 'keyring-row\0';

/**
 * Returns the SQL of the text that the seal of a key's row binds: all columns except the wrapped key, which
 * a rotation of the master key replaces. The wrapped key binds its id, purpose and owner itself.
 * @param alias name of `keyring` in the statement
 */
function keySealText(alias: string): string {
  const times = ['created_at', 'retired_at', 'signs_from', 'verifies_until'];
  return `jsonb_build_array(${alias}.key_id, ${alias}.purpose, ${alias}.owner_id::text, encode(${alias}.public_key, 'hex'), ${times
    .map((column) => `extract(epoch from ${alias}.${column})::text`)
    .join(', ')})::text`;
}

/** Returns the columns of a statement that reads rows of `keyring`, for `isKeySealed`. */
export function keySealColumns(alias: string): string {
  return `${keySealText(alias)} as sealed_text, ${alias}.seal`;
}

/**
 * Computes the seal of a key's row: HMAC-SHA256(the key, 'keyring-row' 0 text). An attacker who
 * can only write to the database has no key.
 * @param secret 32 bytes
 * @returns 32 bytes
 */
export function sealOfKey(secret: Uint8Array, text: string): Buffer {
  return hmacSha256(secret, `${LABEL}${text}`);
}

/** Returns whether the row of a key is as the service wrote it. @param secret secret of this key, 32 bytes */
export function isKeySealed(secret: Uint8Array, { sealed_text: text, seal }: KeySeal): boolean {
  const expected = sealOfKey(secret, text);
  return seal !== null && seal.length === expected.length && timingSafeEqual(seal, expected);
}

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
  | 'refresh'
  | 'row-seal'
  | 'account';

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
/** Times in whole milliseconds, which a `Date` holds exactly. */
const NewRow = z.tuple([z.object({ created_at: z.date(), signs_from: z.date().nullable(), sealed_text: z.string() })]);
const COLUMNS = 'key_id, purpose, owner_id, wrapped, public_key, retired_at';

const CHECK_IDENTITY = { keyId: CHECK_KEY_ID, purpose: CHECK_PURPOSE, ownerId: null };

/** Reads the master key again from its source. */
export type ReloadMasterKey = () => Promise<KeyObject>;

/** The rows of `keyring`, wrapped and unwrapped with one master key. */
export class KeyringStore {
  private constructor(
    private readonly db: Queryable,
    private master: KeyObject,
    private check: Buffer,
    private readonly reload: ReloadMasterKey | undefined,
    private readonly isReadOnly: boolean,
  ) {}

  /**
   * Opens the keyring and verifies that the master key is the one that wraps its keys.
   * @param reload reads the master key again, in case it was rotated while this process was running
   * @param isReadOnly whether the keyring is read-only; a key that does not exist is then an error
   * @throws KeyError `wrong_master_key`; `key_missing` if a read-only keyring was never used
   */
  static async open(
    db: Queryable,
    master: KeyObject,
    reload?: ReloadMasterKey,
    isReadOnly = false,
  ): Promise<KeyringStore> {
    if (!isReadOnly) {
      await db.query(
        'INSERT INTO keyring (key_id, purpose, owner_id, wrapped) VALUES ($1, $2, NULL, $3) ON CONFLICT DO NOTHING',
        [CHECK_KEY_ID, CHECK_PURPOSE, wrapKey(master, Buffer.alloc(32), CHECK_IDENTITY)],
      );
    }
    const wrapped = await readCheck(db);
    try {
      unwrapKey(master, wrapped, CHECK_IDENTITY);
    } catch (error) {
      throw new KeyError(
        'wrong_master_key',
        'This master key does not unwrap the keys in the database. Set MASTER_KEY (or MASTER_KEY_FILE, or ' +
          'DATA_DIR/master.key) to the key that this database was first started with, or last rotated to.',
        { cause: error },
      );
    }
    return new KeyringStore(db, master, wrapped, reload, isReadOnly);
  }

  /**
   * Checks that this process has the master key in force. If it was rotated, the key is read again from its source.
   * @throws KeyError `wrong_master_key` if that is not the one in force either
   */
  async verifyMaster(): Promise<void> {
    const wrapped = await readCheck(this.db);
    if (wrapped.equals(this.check)) return;
    const master = await this.reload?.().catch((cause: unknown) => {
      throw masterKeyReplaced(cause);
    });
    if (master === undefined) throw masterKeyReplaced();
    try {
      unwrapKey(master, wrapped, CHECK_IDENTITY);
    } catch (cause) {
      throw masterKeyReplaced(cause);
    }
    this.master = master;
    this.check = wrapped;
  }

  /** @returns the current key, or `undefined` */
  async current(purpose: KeyPurpose, ownerId: string | null): Promise<StoredKey | undefined> {
    // No index serves IS NOT DISTINCT FROM: it would read the keys of all sites.
    if (ownerId !== null) return (await this.currentOf(purpose, [ownerId]))[0];
    const found = await this.select(
      `SELECT ${COLUMNS} FROM keyring WHERE purpose = $1 AND owner_id IS NULL AND retired_at IS NULL`,
      [purpose],
    );
    return found[0];
  }

  /** @returns the existing current keys of these owners */
  async currentOf(purpose: KeyPurpose, ownerIds: readonly string[]): Promise<StoredKey[]> {
    return this.select(
      `SELECT ${COLUMNS} FROM keyring WHERE purpose = $1 AND owner_id = ANY($2::uuid[]) AND retired_at IS NULL`,
      [purpose, ownerIds],
    );
  }

  /** @returns the key of this purpose with this id, current or retired, or `undefined` */
  async byId(purpose: KeyPurpose, keyId: string): Promise<StoredKey | undefined> {
    const found = await this.select(`SELECT ${COLUMNS} FROM keyring WHERE purpose = $1 AND key_id = $2`, [
      purpose,
      keyId,
    ]);
    return found[0];
  }

  /**
   * Returns the current key. If there is none, the result of `make()` is stored as the first one; if several processes
   * try, one wins. Nothing is stored after another process has rotated the master key, because the new one could not
   * unwrap it.
   * @throws KeyError `wrong_master_key` in that case
   */
  async currentOrCreate(purpose: KeyPurpose, ownerId: string | null, make: () => NewKey): Promise<StoredKey> {
    const existing = await this.current(purpose, ownerId);
    if (existing !== undefined) return existing;
    if (this.isReadOnly)
      throw new KeyError(
        'key_missing',
        `There is no key of purpose ${purpose}${ownerId === null ? '' : ` for ${ownerId}`}.`,
      );
    const made = make();
    await this.insert(this.db, purpose, ownerId, made);
    const kept = await this.current(purpose, ownerId);
    if (kept !== undefined) return kept;
    await this.verifyMaster();
    await this.insert(this.db, purpose, ownerId, made);
    const keptNow = await this.current(purpose, ownerId);
    if (keptNow !== undefined) return keptNow;
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
      const promoted = await this.retire(db, from, null);
      if (promoted === undefined) return;
      await this.retire(db, to, null);
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
   * @param terms the terms in seconds from now: when the new key signs first, and how long the previous one verifies.
   * The first key of all signs immediately, because no other key does.
   * @returns whether there was a previous key
   * @throws KeyError `wrong_master_key` after another process has rotated the master key
   */
  async replace(
    db: Queryable,
    purpose: KeyPurpose,
    made: NewKey,
    terms: { readonly signsIn: number; readonly formerVerifiesFor: number },
  ): Promise<boolean> {
    // Serializes replacements: two concurrent ones would find the same key to retire.
    await db.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`consent-ledger key ${purpose}`]);
    const retired = await this.retire(db, purpose, terms.formerVerifiesFor);
    const signsIn = retired === undefined ? null : terms.signsIn;
    if (!(await this.insert(db, purpose, null, made, signsIn))) throw masterKeyReplaced();
    return retired !== undefined;
  }

  /**
   * Retires the current key of an installation's purpose. A row that was altered before keeps its wrong
   * seal.
   * @param verifiesFor seconds for which it still verifies, or null for no end
   * @returns the key; `undefined` if there was none
   */
  private async retire(db: Queryable, purpose: KeyPurpose, verifiesFor: number | null): Promise<StoredKey | undefined> {
    const before = await db.query(
      `SELECT ${COLUMNS}, ${keySealColumns('k')} FROM keyring k
        WHERE purpose = $1 AND owner_id IS NULL AND retired_at IS NULL FOR UPDATE`,
      [purpose],
    );
    const [key] = this.unwrapAll(before.rows);
    if (key === undefined) return undefined;
    const [seal] = z.array(KeySeal).parse(before.rows);
    const { rows } = await db.query(
      `UPDATE keyring k SET retired_at = clock_timestamp(), verifies_until = clock_timestamp() + make_interval(secs => $2)
        WHERE key_id = $1 RETURNING ${keySealColumns('k')}`,
      [key.keyId, verifiesFor],
    );
    const [after] = z.tuple([KeySeal]).parse(rows);
    if (seal !== undefined && isKeySealed(key.secret, seal)) {
      await db.query('UPDATE keyring SET seal = $2 WHERE key_id = $1', [
        key.keyId,
        sealOfKey(key.secret, after.sealed_text),
      ]);
    }
    return key;
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
    // The row seal covers the times, so they are chosen before the row is written.
    const { rows } = await db.query(
      `SELECT k.created_at, k.signs_from, ${keySealText('k')} AS sealed_text
         FROM (SELECT $1::text AS key_id, $2::text AS purpose, $3::uuid AS owner_id, $4::bytea AS public_key, t.now AS created_at,
                      null::timestamptz AS retired_at, t.now + make_interval(secs => $5) AS signs_from,
                      null::timestamptz AS verifies_until
                 FROM (SELECT date_trunc('milliseconds', clock_timestamp()) AS now) t) k`,
      [keyId, purpose, ownerId, publicKey, signsIn],
    );
    const [row] = NewRow.parse(rows);
    const { rowCount } = await db.query(
      `INSERT INTO keyring (key_id, purpose, owner_id, wrapped, public_key, created_at, signs_from, seal)
       SELECT $1, $2, $3, $4, $5, $8, $9, $10
        WHERE EXISTS (SELECT FROM keyring WHERE key_id = $6 AND wrapped = $7)
       ON CONFLICT DO NOTHING`,
      [
        ...[keyId, purpose, ownerId, wrapKey(this.master, secret, { keyId, purpose, ownerId }), publicKey],
        ...[CHECK_KEY_ID, this.check, row.created_at, row.signs_from, sealOfKey(secret, row.sealed_text)],
      ],
    );
    return rowCount === 1;
  }

  /** Selects keys. If the process cannot unwrap one, they are read once more with the master key in force. */
  private async select(sql: string, values: readonly unknown[]): Promise<StoredKey[]> {
    const read = async () => this.unwrapAll((await this.db.query(sql, [...values])).rows);
    try {
      return await read();
    } catch (error) {
      if (!(error instanceof KeyError && error.code === 'unwrap_failed')) throw error;
      const before = this.check;
      await this.verifyMaster();
      if (this.check === before) throw error;
      return read();
    }
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

async function readCheck(db: Queryable): Promise<Buffer> {
  const { rows } = await db.query(`SELECT ${COLUMNS} FROM keyring WHERE key_id = $1`, [CHECK_KEY_ID]);
  const [row] = z.array(rowSchema).parse(rows);
  if (row === undefined) throw new KeyError('key_missing', 'The database holds no keys: the service never ran on it.');
  return row.wrapped;
}

function masterKeyReplaced(cause?: unknown): KeyError {
  return new KeyError(
    'wrong_master_key',
    'The master key was replaced while this process ran: put the new one where the process reads it, or restart the process with it.',
    { cause },
  );
}
