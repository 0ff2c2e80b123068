import { type KeyObject, randomBytes } from 'node:crypto';
import * as z from 'zod';
import { memoized } from '../caches.js';
import type { Queryable, TransactionHooks } from '../database/pool.js';
import type { SealedTable } from '../database/sealed-tables.js';
import { KeyError } from './errors.js';
import { createJwtKeys, type JwtKeyring } from './jwt-keys.js';
import { type KeyColumns, type KeyRow, type OpenKeyRow, openKeyColumns, openKeyRow } from './key-rows.js';
import { type KeyPurpose, KeyringStore, type NewKey, type ReloadMasterKey, type StoredKey } from './keyring-store.js';
import {
  FORGET_CHANGES,
  type ReportAlteredRow,
  type SealedRow,
  sealChangedRows,
  sealed,
  sealedRow,
} from './row-seals.js';
import { newSigningKey, type SigningKey, signingKeyOf } from './signing-key.js';

/** A tenant's key for proof hashes. `id` is the record's `proof_key_id`. */
export interface ProofKey {
  readonly id: string;
  readonly key: Buffer;
  readonly tenantId: string;
}

/**
 * The keys of an installation. Each is created at first use by exactly one process, and then cached
 * in memory.
 */
export interface Keyring extends JwtKeyring {
  /** Returns the 32-byte key from which a site's record keys and blind indexes are derived. */
  siteKey(siteId: string): Promise<Buffer>;
  /** Returns `siteKey` of several sites, read in one statement where they are not cached. */
  siteKeys(siteIds: readonly string[]): Promise<ReadonlyMap<string, Buffer>>;
  /**
   * Opens rows of `record_keys` of any sites. Rows whose seal is invalid are reported and left out, so that no record
   * is shown as another person's.
   */
  openKeyRows(rows: readonly KeyRow[]): Promise<readonly OpenKeyRow[]>;
  /**
   * Opens rows of `record_keys` of one site as `openKeyRows` does.
   * @returns the records' keys by event id, 32 bytes each
   */
  openKeyColumns(siteId: string, columns: KeyColumns): Promise<ReadonlyMap<string, Uint8Array>>;
  /**
   * Returns the columns of a sealed row, or null if the row is not as the service wrote it. Such a row is reported, and
   * must grant nothing.
   * @param columns the columns that the caller needs
   * @throws ZodError if the columns have another form
   */
  open<T>(row: SealedRow, columns: z.ZodType<T>): Promise<T | null>;
  /** Transaction hooks that seal changed rows. Every pool whose transactions change sealed tables needs them. */
  readonly sealing: TransactionHooks;
  /** Reports a row that was found altered, for log, metrics and alarm. */
  readonly reportAltered: ReportAlteredRow;
  /** Returns the tenant's current key. */
  proofKey(tenantId: string): Promise<ProofKey>;
  /**
   * Returns any key that was ever current.
   * @throws KeyError `key_missing`
   */
  proofKeyById(id: string): Promise<ProofKey>;
  /**
   * Returns the key that signs checkpoints. It is read from the database each time, because it is
   * rotated while processes run.
   */
  ledgerKey(): Promise<SigningKey>;
  /** Returns the next ledger key. It is created at first use and kept until it is promoted. */
  nextLedgerKey(): Promise<SigningKey>;
  /** Returns the next ledger key if a rotation was begun, otherwise null. */
  pendingLedgerKey(): Promise<SigningKey | null>;
  /** Makes the next ledger key the signing key; does nothing if there is none. */
  promoteNextLedgerKey(): Promise<void>;
  /** Returns the key that signs the manifests of evidence packages. */
  manifestKey(): Promise<SigningKey>;
  /** Returns the key that signs the promises of admission. */
  promiseKey(): Promise<SigningKey>;
  /**
   * Returns the 32-byte key of the digests under which requests are counted, so that no address is
   * stored.
   */
  throttleKey(): Promise<Buffer>;
  /** Returns the 32-byte key from which the next refresh token of a sign-in is derived. */
  refreshKey(): Promise<Buffer>;
  /** Returns the 32-byte key from which the keys of secrets about users are derived. */
  accountKey(): Promise<Buffer>;
  /**
   * Checks that this process has the master key in force. Without it, the process can only use keys that it has cached.
   * @throws KeyError `wrong_master_key`
   */
  verifyMasterKey(): Promise<void>;
}

/** The part of the keyring that opens rows of sealed tables. */
export type RowSeals = Pick<Keyring, 'open'>;

/** The part of the keyring that opens rows of `record_keys`. */
export type KeyRows = Pick<Keyring, 'openKeyRows'>;

/** The part of the keyring that derives the keys of records by the page. */
export type RecordKeyring = Pick<Keyring, 'openKeyColumns'>;

export interface KeyringOptions {
  /** Reads the master key again, in case it is rotated while this process is running. */
  readonly reload?: ReloadMasterKey | undefined;
  /** Receives rows whose seal fails. */
  readonly reportAltered?: ReportAlteredRow;
  /** Whether the keyring is read-only. A key that does not exist is then an error. */
  readonly isReadOnly?: boolean;
}

/**
 * Opens the keyring.
 * @param db a handle that may SELECT from and, unless read-only, INSERT into `keyring`
 * @param master result of `loadMasterKey`
 * @throws KeyError `wrong_master_key`; each method also throws `unwrap_failed` for an altered row
 */
export async function createKeyring(db: Queryable, master: KeyObject, options: KeyringOptions = {}): Promise<Keyring> {
  const { reload, reportAltered = () => undefined, isReadOnly = false } = options;
  const store = await KeyringStore.open(db, master, reload, isReadOnly);

  const currentKey = (purpose: KeyPurpose, ownerId: string | null, make: (keyId: string) => NewKey) =>
    store.currentOrCreate(purpose, ownerId, () => make(newKeyId(purpose)));
  const secretKey = memoized(
    async (purpose: 'site' | 'throttle' | 'refresh' | 'row-seal' | 'account', ownerId: string | null) => {
      return (await currentKey(purpose, ownerId, newSecretKey)).secret;
    },
  );
  const signingKey = async (purpose: 'ledger' | 'next-ledger' | 'manifest' | 'promise') =>
    signingKeyOf(await currentKey(purpose, null, newSigningKey));
  const siteKeys = async (siteIds: readonly string[]): Promise<ReadonlyMap<string, Buffer>> => {
    const missing = siteIds.filter((siteId) => !secretKey.has('site', siteId));
    for (const { ownerId, secret } of missing.length === 0 ? [] : await store.currentOf('site', missing)) {
      secretKey.remember(secret, 'site', ownerId);
    }
    const keys = siteIds.map(async (siteId) => [siteId, await secretKey('site', siteId)] as const);
    return new Map(await Promise.all(keys));
  };
  // Read in advance, because a transaction that seals rows must not wait for a second connection of its pool.
  await secretKey('row-seal', null);
  return {
    siteKey: (siteId) => secretKey('site', siteId),
    siteKeys,
    reportAltered,
    open: async (row, columns) => {
      const content = row.contentUnder(await secretKey('row-seal', null));
      if (content === null) reportAltered({ table: row.table, id: row.key });
      return content === null ? null : columns.parse(content);
    },
    sealing: {
      begin: FORGET_CHANGES,
      beforeCommit: async (db) => sealChangedRows(db, await secretKey('row-seal', null), reportAltered),
    },
    openKeyRows: async (rows) => {
      const keys = await siteKeys([...new Set(rows.map((row) => row.site_id))]);
      return rows.flatMap((row) => {
        const siteKey = keys.get(row.site_id);
        const open = siteKey === undefined ? null : openKeyRow(siteKey, row);
        if (open === null) reportAltered({ table: 'record_keys', id: row.event_id });
        return open ?? [];
      });
    },
    openKeyColumns: async (siteId, columns) => {
      const keys = openKeyColumns(await secretKey('site', siteId), columns);
      const opened = new Map<string, Uint8Array>();
      for (const [row, eventId] of columns.eventIds.entries()) {
        const key = keys[row] ?? null;
        if (key === null) reportAltered({ table: 'record_keys', id: eventId });
        else opened.set(eventId, key);
      }
      return opened;
    },
    proofKey: memoized(async (tenantId: string) => proofKeyOf(await currentKey('proof', tenantId, newSecretKey))),
    proofKeyById: memoized(async (id: string) => {
      const stored = await store.byId('proof', id);
      if (stored === undefined) throw new KeyError('key_missing', `There is no proof key ${id}.`);
      return proofKeyOf(stored);
    }),
    ledgerKey: () => signingKey('ledger'),
    nextLedgerKey: () => signingKey('next-ledger'),
    pendingLedgerKey: async () => {
      const stored = await store.current('next-ledger', null);
      return stored === undefined ? null : signingKeyOf(stored);
    },
    promoteNextLedgerKey: () => store.promote('next-ledger', 'ledger', newKeyId('ledger')),
    manifestKey: memoized(() => signingKey('manifest')),
    promiseKey: memoized(() => signingKey('promise')),
    ...createJwtKeys(db, store, () => newSigningKey(newKeyId('jwt')), reportAltered),
    throttleKey: () => secretKey('throttle', null),
    refreshKey: () => secretKey('refresh', null),
    accountKey: () => secretKey('account', null),
    verifyMasterKey: () => store.verifyMaster(),
  };
}

function newKeyId(purpose: KeyPurpose): string {
  return `${purpose}-${randomBytes(12).toString('hex')}`;
}

function newSecretKey(keyId: string): NewKey {
  return { keyId, secret: randomBytes(32), publicKey: null };
}

function proofKeyOf({ keyId, ownerId, secret }: StoredKey): ProofKey {
  if (ownerId === null) throw new KeyError('key_missing', `The proof key ${keyId} belongs to no tenant.`);
  return { id: keyId, key: secret, tenantId: ownerId };
}

/** Selects rows of a sealed table. */
export interface SealedQuery<Table extends SealedTable> {
  readonly table: Table;
  /** SQL after WHERE, with the table as `r`; a lock may follow. */
  readonly where: string;
  readonly values: readonly unknown[];
  /** The name of a prepared statement. */
  readonly name?: string;
}

/** Reads the rows of a sealed table that meet a condition, for `RowSeals.open`. */
export async function sealedRows<Table extends SealedTable>(
  db: Queryable,
  { table, where, values, name }: SealedQuery<Table>,
): Promise<readonly SealedRow<Table>[]> {
  const text = `select ${sealed(table, 'r')} as sealed from ${table} r where ${where}`;
  const { rows } = await db.query({ ...(name !== undefined && { name }), text, values: [...values] });
  return z
    .array(z.object({ sealed: sealedRow(table) }))
    .parse(rows)
    .map((row) => row.sealed);
}

/**
 * Reads one row of a sealed table, and checks its seal.
 * @param columns the columns that the caller needs
 * @returns null if there is no such row, or it was altered
 */
export async function readSealed<T>(
  db: Queryable,
  seals: RowSeals,
  query: SealedQuery<SealedTable>,
  columns: z.ZodType<T>,
): Promise<T | null> {
  const [row] = await sealedRows(db, query);
  return row === undefined ? null : seals.open(row, columns);
}
