import { createSecretKey, type KeyObject, randomBytes, randomUUID, sign, verify } from 'node:crypto';
import type pg from 'pg';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createPool, withTransaction } from '../../../src/platform/database/pool.js';
import { createKeyring, KeyError, rewrapAll } from '../../../src/platform/keys/index.js';
import { createTestDatabase, type TestDatabase } from '../../support/postgres.js';

describe('the keyring', () => {
  let database: TestDatabase;
  let db: pg.Pool;
  const master = newMaster();

  beforeAll(async () => {
    database = await createTestDatabase();
    db = createPool({
      url: database.url,
      applicationName: 'keyring test',
      maxConnections: 10,
      statementTimeoutMs: 30_000,
      onIdleError: () => undefined,
    });
  });
  afterEach(() => db.query('DELETE FROM keyring'));
  afterAll(async () => {
    await db.end();
    await database.drop();
  });

  it('returns the keys of several sites as it returns each, and creates the missing ones', async () => {
    const sites = Array.from({ length: 5 }, () => randomUUID());
    const [made, read] = [await createKeyring(db, master), await createKeyring(db, master)];
    for (const site of sites.slice(1)) await made.siteKey(site);
    const keys = await read.siteKeys(sites);
    expect([...keys.keys()]).toEqual(sites);
    for (const site of sites) expect(await made.siteKey(site)).toEqual(keys.get(site));
    expect(await read.siteKeys(sites)).toEqual(keys);
    expect(await read.siteKeys([])).toEqual(new Map());
  });

  it('creates each key once with several concurrent processes', async () => {
    const site = randomUUID();
    const tenant = randomUUID();
    const rings = await Promise.all(Array.from({ length: 10 }, () => createKeyring(db, master)));
    const siteKeys = await Promise.all(rings.flatMap((ring) => [ring.siteKey(site), ring.siteKey(site)]));
    const proofKeys = await Promise.all(rings.map((ring) => ring.proofKey(tenant)));
    const ledgerKeys = await Promise.all(rings.map((ring) => ring.ledgerKey()));
    expect(new Set(siteKeys.map((key) => key.toString('hex'))).size).toBe(1);
    expect(siteKeys[0]).toHaveLength(32);
    expect(new Set(proofKeys.map((key) => `${key.id} ${key.key.toString('hex')} ${key.tenantId}`)).size).toBe(1);
    expect(new Set(ledgerKeys.map((key) => key.publicKeyBytes.toString('hex'))).size).toBe(1);
    const { rows } = await db.query('SELECT purpose, count(*) AS n FROM keyring GROUP BY purpose ORDER BY purpose');
    expect(rows).toEqual(['ledger', 'master-check', 'proof', 'row-seal', 'site'].map((purpose) => ({ purpose, n: 1 })));
  });

  it('creates a separate key for every owner and every purpose', async () => {
    const ring = await createKeyring(db, master);
    const [one, other] = [randomUUID(), randomUUID()];
    const keys = [
      await ring.siteKey(one),
      await ring.siteKey(other),
      (await ring.proofKey(one)).key,
      await ring.throttleKey(),
    ];
    expect(new Set(keys.map((key) => key.toString('hex'))).size).toBe(4);
  });

  it('returns the same keys after a restart, with the rights of the worker', async () => {
    const site = randomUUID();
    const before = await createKeyring(db, master);
    const api = createPool({
      url: database.url,
      role: 'consent_ledger_worker',
      applicationName: 'keyring test',
      maxConnections: 1,
      statementTimeoutMs: 30_000,
      onIdleError: () => undefined,
    });
    const after = await createKeyring(api, master);
    expect(await after.siteKey(site)).toEqual(await before.siteKey(site));
    expect((await after.jwtKeys()).current.keyId).toBe((await before.jwtKeys()).current.keyId);
    await api.end();
  });

  it('returns retired proof keys and JWT keys', async () => {
    const tenant = randomUUID();
    const before = await createKeyring(db, master);
    const [proof, jwt] = [await before.proofKey(tenant), await before.jwtKeys()];
    await db.query(`UPDATE keyring SET retired_at = now() WHERE purpose = 'proof'`);
    await withTransaction(db, (db) => before.replaceJwtKey(db, { signsIn: 0, formerVerifiesFor: 60 }));
    const after = await createKeyring(db, master);
    expect((await after.proofKey(tenant)).id).not.toBe(proof.id);
    expect(await after.proofKeyById(proof.id)).toEqual(proof);
    const { current, all } = await after.jwtKeys();
    expect(all.map((key) => key.keyId)).toEqual([current.keyId, jwt.current.keyId]);
    await expect(after.proofKeyById('proof-unknown')).rejects.toMatchObject({ code: 'key_missing' });
  });

  it('signs with Ed25519', async () => {
    const ring = await createKeyring(db, master);
    const message = Buffer.from('checkpoint');
    for (const key of [await ring.ledgerKey(), await ring.manifestKey(), (await ring.jwtKeys()).current]) {
      const signature = sign(null, message, key.privateKey);
      expect(verify(null, message, key.publicKey, signature)).toBe(true);
      expect(key.publicKeyBytes).toHaveLength(32);
    }
  });

  it('refuses another master key when it is opened', async () => {
    await createKeyring(db, master);
    const attempt = createKeyring(db, newMaster());
    await expect(attempt).rejects.toThrow(KeyError);
    await expect(attempt).rejects.toMatchObject({ code: 'wrong_master_key' });
  });

  it('refuses a row that was moved to another owner or altered', async () => {
    const [mine, yours] = [randomUUID(), randomUUID()];
    await (await createKeyring(db, master)).siteKey(mine);
    await db.query('UPDATE keyring SET owner_id = $1 WHERE owner_id = $2', [yours, mine]);
    const ring = await createKeyring(db, master);
    await expect(ring.siteKey(yours)).rejects.toMatchObject({ code: 'unwrap_failed' });
    await ring.ledgerKey();
    for (const altered of [randomBytes(32), Buffer.alloc(32), randomBytes(31), Buffer.alloc(0)]) {
      await db.query(`UPDATE keyring SET public_key = $1 WHERE purpose = 'ledger'`, [altered]);
      const again = await createKeyring(db, master);
      await expect(again.ledgerKey()).rejects.toMatchObject({ code: 'unwrap_failed' });
    }
  });

  it('keeps all keys in a rotation of the master key, and creates none with the old one', async () => {
    const [site, tenant] = [randomUUID(), randomUUID()];
    const old = await createKeyring(db, master);
    const before = [await old.siteKey(site), await old.proofKey(tenant), (await old.ledgerKey()).publicKeyBytes];
    const next = newMaster();
    expect(await rewrapAll(db, master, next)).toBe(5);
    await expect(createKeyring(db, master)).rejects.toMatchObject({ code: 'wrong_master_key' });
    await expect(rewrapAll(db, master, next)).rejects.toMatchObject({ code: 'wrong_master_key' });
    const fresh = await createKeyring(db, next);
    expect([await fresh.siteKey(site), await fresh.proofKey(tenant), (await fresh.ledgerKey()).publicKeyBytes]).toEqual(
      before,
    );
    const newcomer = randomUUID();
    await expect(old.siteKey(newcomer)).rejects.toMatchObject({ code: 'wrong_master_key' });
    expect(await old.siteKey(site)).toEqual(before[0]);
    expect(await fresh.siteKey(newcomer)).toHaveLength(32);
  });

  it('loses no key that is created during a rotation of the master key', async () => {
    const ring = await createKeyring(db, master);
    const sites = Array.from({ length: 40 }, () => randomUUID());
    const next = newMaster();
    const made = Promise.allSettled(sites.map((site) => ring.siteKey(site)));
    await rewrapAll(db, master, next);
    const outcomes = await made;
    const fresh = await createKeyring(db, next);
    for (const [index, outcome] of outcomes.entries()) {
      const key = await fresh.siteKey(sites[index] ?? '');
      if (outcome.status === 'fulfilled') expect(key).toEqual(outcome.value);
    }
  });
});

function newMaster(): KeyObject {
  return createSecretKey(randomBytes(32));
}
