import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { post } from './api-process.js';
import { createSiteFixture } from './site-fixture.js';
import { codes, cookie, openTwoApis, SINGLE, type TwoApis, times } from './two-apis.js';

describe('nonces with two concurrent API processes', () => {
  let two: TwoApis;

  beforeAll(async () => {
    two = await openTwoApis();
  });
  afterAll(() => two?.close());

  it('accepts a nonce once', async () => {
    const site = await createSiteFixture(two.database.owner);
    const nonce = randomUUID();
    const answers = await times(40, (i) => post(two.either(i), site.writeKey, SINGLE, cookie(site), { nonce }));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
    expect(new Set(codes(answers))).toEqual(new Set(['NONCE_REPLAYED']));
    expect(await two.consentEvents(site.siteId)).toBe(1);
    const other = await createSiteFixture(two.database.owner);
    expect((await post(two.either(0), other.writeKey, SINGLE, cookie(other), { nonce })).status).toBe(202);
  });

  it('accepts a nonce once across a change of generation, and with a timestamp 299 s ahead', async () => {
    const site = await createSiteFixture(two.database.owner);
    const nonces = Array.from({ length: 60 }, () => randomUUID());
    const advance = async () => {
      await two.database.owner.query(
        "update admission_generations set began_at = began_at - interval '1 hour' where kind = 'nonces'",
      );
      return (await two.database.db.query("select advance_admission_generation('nonces') as done")).rows[0].done;
    };
    const send = (i: number) =>
      post(two.either(i), site.writeKey, SINGLE, cookie(site), { nonce: nonces[i % nonces.length] ?? '', ahead: 299 });
    const [first, advanced] = await Promise.all([times(180, send), advance()]);
    expect(advanced).toBe(true);
    const again = await times(60, send);
    const accepted = [...first, ...again].filter(({ status }) => status === 202);
    expect(accepted).toHaveLength(60);
    expect(await two.consentEvents(site.siteId)).toBe(60);
  });

  it('removes a generation of nonces only when the one after it is old enough', async () => {
    const { owner, db, secondPool } = two.database;
    const rowsWith = async (digest: string) =>
      (await owner.query('select from nonces where digest = $1', [Buffer.from(digest, 'hex')])).rowCount;
    await owner.query("update admission_generations set began_at = clock_timestamp() - interval '900 seconds'");
    const { slot } = (await owner.query("select slot from admission_generations where kind = 'nonces'")).rows[0];
    await owner.query(`insert into nonces_${(slot + 2) % 3} values ('\\x01')`);
    await owner.query(`insert into nonces_${slot} values ('\\x02')`);
    const { rows } = await db.query("select advance_admission_generation('nonces') as done");
    expect(rows).toEqual([{ done: false }]);
    expect(await rowsWith('01')).toBe(1);

    await owner.query("update admission_generations set began_at = began_at - interval '100 seconds'");
    const advanced = await secondPool.query("select advance_admission_generation('nonces') as done");
    expect(advanced.rows).toEqual([{ done: true }]);
    await secondPool.query("select advance_admission_generation('nonces')");
    expect(await rowsWith('01')).toBe(0);
    expect(await rowsWith('02')).toBe(1);
  });
});
