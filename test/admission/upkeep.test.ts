import { createSecretKey, randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { mintApprovalToken } from '../../src/admission/approval-tokens.js';
import { keepUp } from '../../src/admission/upkeep.js';
import { createSiteDirectory } from '../../src/catalogue/site-directory.js';
import { createKeyring, createRandomPool } from '../../src/keys/index.js';
import { type AdmissionDatabase, openAdmissionDatabase } from './database.js';
import { createSiteFixture } from './site-fixture.js';

describe('upkeep of admission', () => {
  let database: AdmissionDatabase;
  beforeAll(async () => {
    database = await openAdmissionDatabase();
  });
  afterAll(() => database?.close());

  it('advances both kinds of generations once, however many do it', async () => {
    await database.owner.query("update admission_generations set began_at = began_at - interval '13 hours'");
    await Promise.all([keepUp(database.worker), keepUp(database.worker), keepUp(database.worker)]);
    const { rows } = await database.owner.query('select kind, slot from admission_generations order by kind');
    expect(rows).toEqual([
      { kind: 'idempotency', slot: 1 },
      { kind: 'nonces', slot: 1 },
    ]);
  });

  it('deletes approval tokens that nobody used, a day after they expired', async () => {
    const site = await createSiteFixture(database.owner);
    const directory = createSiteDirectory(
      database.pool,
      await createKeyring(database.pool, createSecretKey(randomBytes(32))),
    );
    const context = await directory.site(site.siteId);
    const mint = async () =>
      (await mintApprovalToken(database.pool, createRandomPool(), context, { document_slug: 'form', subject: 'p' }))
        .approval_token_id;
    const [fresh, old, used] = [await mint(), await mint(), await mint()];
    const age = "update approval_tokens set expires_at = now() - interval '25 hours' where id = any ($1)";
    await database.owner.query(age, [[old, used]]);
    await database.owner.query('update approval_tokens set consumed_by = gen_random_uuid() where id = $1', [used]);
    await keepUp(database.worker);
    const { rows } = await database.owner.query('select id from approval_tokens where site_id = $1', [site.siteId]);
    expect(rows.map(({ id }) => id).sort()).toEqual([fresh, used].sort());
  });
});
