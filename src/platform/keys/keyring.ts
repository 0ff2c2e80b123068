import { type KeyObject, randomBytes } from 'node:crypto';
import type { Queryable } from '../database/pool.js';
import { KeyError } from './errors.js';
import { createJwtKeys, type JwtKeyring } from './jwt-keys.js';
import { type KeyPurpose, KeyringStore, type NewKey, type StoredKey } from './keyring-store.js';
import { remembered } from './memory.js';
import { newSigningKey, type SigningKey, signingKeyOf } from './signing-key.js';

/** A tenant's key for proof hashes. `id` is the record's `proof_key_id`. */
export interface ProofKey {
  readonly id: string;
  readonly key: Buffer;
  readonly tenantId: string;
}

/** The keys of an installation: each made at first use, by exactly one process, and then kept in memory. */
export interface Keyring extends JwtKeyring {
  /** What a site's record keys and blind indexes are made from: 32 bytes. */
  siteKey(siteId: string): Promise<Buffer>;
  /** The tenant's current key. */
  proofKey(tenantId: string): Promise<ProofKey>;
  /** Any key that was ever current. @throws KeyError `key_missing` */
  proofKeyById(id: string): Promise<ProofKey>;
  /** Signs checkpoints. Read anew each time: it is rotated while processes run. */
  ledgerKey(): Promise<SigningKey>;
  /** The key that is to follow it: made at first use, and kept until it is promoted. */
  nextLedgerKey(): Promise<SigningKey>;
  /** The key that follows, if a rotation was begun; null else. */
  pendingLedgerKey(): Promise<SigningKey | null>;
  /** Makes the key that follows the one that signs; does nothing if there is none. */
  promoteNextLedgerKey(): Promise<void>;
  /** Signs the manifests of evidence packages. */
  manifestKey(): Promise<SigningKey>;
  /** For the digests that requests are counted under without keeping addresses: 32 bytes. */
  throttleKey(): Promise<Buffer>;
}

/**
 * Opens the keyring.
 * @param db may SELECT from and INSERT into `keyring`
 * @param master of `loadMasterKey`
 * @throws KeyError `wrong_master_key`; each method also `unwrap_failed` for an altered row
 */
export async function createKeyring(db: Queryable, master: KeyObject): Promise<Keyring> {
  const store = await KeyringStore.open(db, master);

  const currentKey = (purpose: KeyPurpose, ownerId: string | null, make: (keyId: string) => NewKey) =>
    store.currentOrCreate(purpose, ownerId, () => make(newKeyId(purpose)));
  const secretKey = remembered(async (purpose: 'site' | 'throttle', ownerId: string | null) => {
    return (await currentKey(purpose, ownerId, newSecretKey)).secret;
  });
  const signingKey = async (purpose: 'ledger' | 'next-ledger' | 'manifest') =>
    signingKeyOf(await currentKey(purpose, null, newSigningKey));
  return {
    siteKey: (siteId) => secretKey('site', siteId),
    proofKey: remembered(async (tenantId: string) => proofKeyOf(await currentKey('proof', tenantId, newSecretKey))),
    proofKeyById: remembered(async (id: string) => {
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
    manifestKey: remembered(() => signingKey('manifest')),
    ...createJwtKeys(db, store, () => newSigningKey(newKeyId('jwt'))),
    throttleKey: () => secretKey('throttle', null),
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
