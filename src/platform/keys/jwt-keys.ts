import * as z from 'zod';
import { memoized } from '../caches.js';
import type { Queryable } from '../database/pool.js';
import { KeyError } from './errors.js';
import { isKeySealed, type KeyringStore, keySealColumns, type NewKey } from './keyring-store.js';
import type { ReportAlteredRow } from './row-seals.js';
import { type SigningKey, signingKeyOf } from './signing-key.js';

/** The keys of JSON Web Tokens (EdDSA): one signs, all verify. */
export interface JwtKeys {
  readonly current: SigningKey;
  /**
   * Newest first. It includes a published key that does not sign yet, and keys that no longer sign
   * while their tokens may be valid.
   */
  readonly all: readonly SigningKey[];
}

/** A key of JSON Web Tokens without its secret, for operators. */
export interface JwtKeyState {
  readonly keyId: string;
  readonly state: 'published' | 'signing' | 'verifying' | 'expired';
  readonly createdAt: Date;
  /** Null if the key has signed from the beginning. */
  readonly signsFrom: Date | null;
  /** Null as long as the key is not replaced. */
  readonly verifiesUntil: Date | null;
}

/** Times in seconds from now. */
export interface JwtKeyTerms {
  /**
   * Time until the new key signs; by then every client that caches the published keys has read it.
   */
  readonly signsIn: number;
  /** Time for which the previous key verifies, longer than its last token is valid. */
  readonly formerVerifiesFor: number;
}

/** The part of the keyring with the keys of JSON Web Tokens. */
export interface JwtKeyring {
  /**
   * Reads the keys from the database each time, because they are rotated while processes run. Only
   * the secrets are cached.
   */
  jwtKeys(): Promise<JwtKeys>;
  /** Returns every key that ever existed, newest first. */
  listJwtKeys(): Promise<readonly JwtKeyState[]>;
  /**
   * Creates the key that signs next. If there is no key yet, it signs immediately.
   * @param db a transaction of a role that may INSERT into and UPDATE `keyring`
   * @throws KeyError `wrong_master_key`
   */
  replaceJwtKey(db: Queryable, terms: JwtKeyTerms): Promise<{ readonly keyId: string; readonly isFirst: boolean }>;
}

const PURPOSE = 'jwt';

const Rows = z.array(
  z.object({
    key_id: z.string(),
    created_at: z.date(),
    signs_from: z.date().nullable(),
    verifies_until: z.date().nullable(),
    sealed_text: z.string(),
    seal: z.instanceof(Uint8Array).nullable(),
    is_retired: z.boolean(),
    is_signing: z.boolean(),
    is_verifying: z.boolean(),
  }),
);

/**
 * @param make creates a new key
 * @param reportAltered receives keys whose times were altered; they are not used
 */
export function createJwtKeys(
  db: Queryable,
  store: KeyringStore,
  make: () => NewKey,
  reportAltered: ReportAlteredRow,
): JwtKeyring {
  const stored = memoized(async (keyId: string) => {
    const found = await store.byId(PURPOSE, keyId);
    if (found === undefined) throw new KeyError('key_missing', `There is no key ${keyId} of access tokens.`);
    return { key: signingKeyOf(found), secret: found.secret };
  });
  const keyById = async (keyId: string): Promise<SigningKey> => (await stored(keyId)).key;
  // The clock of the database decides, so that every process gets the same result.
  const readRows = async () => {
    const { rows } = await db.query(
      `SELECT key_id, created_at, signs_from, verifies_until, retired_at IS NOT NULL AS is_retired,
              signs_from IS NULL OR signs_from <= now() AS is_signing,
              verifies_until IS NULL OR verifies_until > now() AS is_verifying, ${keySealColumns('k')}
         FROM keyring k WHERE purpose = $1 AND owner_id IS NULL ORDER BY retired_at DESC NULLS FIRST, key_id`,
      [PURPOSE],
    );
    const genuine: z.infer<typeof Rows> = [];
    for (const row of Rows.parse(rows)) {
      // Someone who could change these times could keep a leaked key in use after its replacement.
      if (isKeySealed((await stored(row.key_id)).secret, row)) genuine.push(row);
      else reportAltered({ table: 'keyring', id: row.key_id });
    }
    return genuine;
  };
  const readOrMake = async () => {
    const rows = await readRows();
    if (rows.some((row) => !row.is_retired)) return rows;
    await store.currentOrCreate(PURPOSE, null, make);
    return readRows();
  };
  return {
    jwtKeys: async () => {
      const rows = (await readOrMake()).filter((row) => row.is_verifying);
      const signing = rows.find((row) => row.is_signing);
      if (signing === undefined)
        throw new KeyError(
          'key_missing',
          'No key of access tokens may sign now. Run `consent-ledger admin sign-in rotate-key`.',
        );
      return {
        current: await keyById(signing.key_id),
        all: await Promise.all(rows.map((row) => keyById(row.key_id))),
      };
    },
    listJwtKeys: async () => {
      const rows = await readOrMake();
      const signing = rows.find((row) => row.is_signing && row.is_verifying);
      return rows.map((row, index) => ({
        keyId: row.key_id,
        state: stateOf(row, signing === undefined ? -1 : rows.indexOf(signing), index),
        createdAt: row.created_at,
        signsFrom: row.signs_from,
        verifiesUntil: row.verifies_until,
      }));
    },
    replaceJwtKey: async (db, terms) => {
      const made = make();
      const hadFormer = await store.replace(db, PURPOSE, made, terms);
      return { keyId: made.keyId, isFirst: !hadFormer };
    },
  };
}

/** @param signingAt index of the signing key in the list, newest first */
function stateOf(row: { readonly is_verifying: boolean }, signingAt: number, index: number): JwtKeyState['state'] {
  if (!row.is_verifying) return 'expired';
  if (index === signingAt) return 'signing';
  return index < signingAt ? 'published' : 'verifying';
}
