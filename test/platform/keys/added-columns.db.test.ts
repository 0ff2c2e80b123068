import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import { withTransaction } from '../../../src/platform/database/pool.js';
import { createKeyring, type Keyring, readSealed } from '../../../src/platform/keys/index.js';
import { type AdmissionDatabase, openAdmissionDatabase } from '../../pipeline/admission/database.js';
import { createSiteFixture, type SiteFixture } from '../../pipeline/admission/site-fixture.js';

let database: AdmissionDatabase;
let keyring: Keyring;
let site: SiteFixture;

beforeAll(async () => {
  database = await openAdmissionDatabase();
  keyring = await createKeyring(database.worker, database.master);
  site = await createSiteFixture(database.owner);
});
afterAll(() => database?.close());

const opened = (columns: z.ZodType): Promise<unknown> =>
  readSealed(database.worker, keyring, { table: 'api_keys', where: 'r.site_id = $1', values: [site.siteId] }, columns);

it('keeps the seals of rows when a later migration adds a column', async () => {
  const Columns = z.object({ expires_at: z.null(), try_note: z.null().optional() });
  expect(await opened(Columns)).toEqual({ expires_at: null });
  await database.owner.query('alter table api_keys add column try_note text');
  expect(await opened(Columns)).toEqual({ expires_at: null, try_note: null });
});

it('breaks the seal of a row whose column was set to null, or was null', async () => {
  const set = `update api_keys set expires_at = $2 where site_id = $1`;
  const bySql = async (expiresAt: string | null): Promise<unknown> => {
    await database.owner.query('alter table api_keys disable trigger changes_are_sealed');
    await database.owner.query(set, [site.siteId, expiresAt]);
    await database.owner.query('alter table api_keys enable trigger changes_are_sealed');
    return opened(z.object({}));
  };
  expect(await bySql('2999-01-01T00:00:00Z')).toBeNull();
  expect(await bySql(null)).toEqual({});
  await withTransaction(database.owner, (client) => client.query(set, [site.siteId, '2999-01-01T00:00:00Z']));
  expect(await opened(z.object({ expires_at: z.string() }))).not.toBeNull();
  expect(await bySql(null)).toBeNull();
});
