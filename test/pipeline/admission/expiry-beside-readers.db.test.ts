import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ConsentResponse } from '../../../schemas/api/consents.js';
import { maintainAdmission } from '../../../src/pipeline/admission/maintenance.js';
import { countLocks } from '../../support/count-locks.js';
import { type PostAnswer, post } from './api-process.js';
import { createSiteFixture } from './site-fixture.js';
import { codes, cookie, openTwoApis, SINGLE, type TwoApis } from './two-apis.js';

const KINDS = ['nonces', 'idempotency'] as const;

describe('expiry of nonces and idempotency keys', () => {
  let two: TwoApis;

  beforeAll(async () => {
    two = await openTwoApis();
  });
  afterAll(() => two?.close());

  const makeDue = () =>
    two.database.owner.query("update admission_generations set began_at = clock_timestamp() - interval '2 days'");
  const slotOf = async (kind: string): Promise<number> =>
    (await two.database.owner.query('select slot from admission_generations where kind = $1', [kind])).rows[0].slot;
  const rowsIn = async (kind: string, slot: number): Promise<number> =>
    (await two.database.owner.query(`select from ${kind}_${slot}`)).rowCount ?? Number.NaN;

  /** Holds the lock that `pg_dump` takes on every table, until the work has ended. */
  async function besideReader(work: () => Promise<void>): Promise<void> {
    const reader = await two.database.owner.connect();
    try {
      await reader.query('begin');
      await reader.query("set local idle_in_transaction_session_timeout = '0'");
      await reader.query('lock table nonces, idempotency in access share mode');
      await work();
    } finally {
      await reader.query('rollback');
      reader.release();
    }
  }

  /** Sends a consent whose admission waits after its look-ups, until the work has ended. */
  async function whileAdmissionWaits(send: () => Promise<PostAnswer>, work: () => Promise<void>): Promise<void> {
    const holder = await two.database.owner.connect();
    let sent: Promise<PostAnswer> | null = null;
    try {
      await holder.query('begin');
      await holder.query('lock table record_keys in share mode');
      sent = send();
      const waits = "relation = 'record_keys'::regclass and not granted";
      await expect.poll(() => countLocks(holder, waits)).toBe(1);
      await work();
    } finally {
      await holder.query('rollback');
      holder.release();
    }
    expect((await sent).status).toBe(202);
  }

  it('delays no admission while a reader holds locks on both tables', async () => {
    const site = await createSiteFixture(two.database.owner);
    for (let round = 0; round < 3; round += 1) {
      await post(two.either(0), site.writeKey, SINGLE, cookie(site, { idempotency_key: randomUUID() }));
      await makeDue();
      await maintainAdmission(two.database.worker);
    }
    await makeDue();
    await besideReader(async () => {
      const expiry = maintainAdmission(two.database.worker);
      const answers: Promise<number>[] = [];
      for (let i = 0; i < 50; i += 1) {
        answers.push(
          post(two.either(i), site.writeKey, SINGLE, cookie(site, { idempotency_key: randomUUID() })).then(
            ({ status }) => status,
          ),
        );
        await sleep(10);
      }
      expect(new Set(await Promise.all(answers))).toEqual(new Set([202]));
      // It would reject after its time limit if it waited for the reader.
      await expiry;
    });
  });

  it.each(KINDS)('empties the spare slot of %s, whichever it is, while an admission is under way', async (kind) => {
    const site = await createSiteFixture(two.database.owner);
    const send = () => post(two.either(0), site.writeKey, SINGLE, cookie(site, { idempotency_key: randomUUID() }));
    for (let round = 0; round < 3; round += 1) {
      await send();
      const slot = await slotOf(kind);
      const spare = (slot + 1) % 3;
      await two.database.owner.query('update admission_generations set began_at = clock_timestamp()');
      await two.database.owner.query(
        `insert into ${kind}_${spare}
           select (jsonb_populate_record(r, jsonb_build_object('slot', ${spare}))).* from ${kind}_${slot} r`,
      );
      expect(await rowsIn(kind, spare)).toBeGreaterThan(0);
      await whileAdmissionWaits(send, async () => {
        await two.database.worker.query('select advance_admission_generation($1)', [kind]);
        expect(await rowsIn(kind, spare)).toBe(0);
      });
      await makeDue();
      await two.database.worker.query('select advance_admission_generation($1)', [kind]);
      expect(await slotOf(kind)).toBe(spare);
    }
  });

  it('finds nonces and idempotency keys of the generation before, whatever their slot', async () => {
    const site = await createSiteFixture(two.database.owner);
    for (let round = 0; round < 3; round += 1) {
      const nonce = randomUUID();
      const consent = cookie(site, { idempotency_key: randomUUID() });
      expect((await post(two.either(0), site.writeKey, SINGLE, consent, { nonce })).status).toBe(202);
      const before = { nonces: await slotOf('nonces'), idempotency: await slotOf('idempotency') };
      await makeDue();
      await maintainAdmission(two.database.worker);
      for (const kind of KINDS) expect(await slotOf(kind)).toBe((before[kind] + 1) % 3);
      expect(codes([await post(two.either(1), site.writeKey, SINGLE, consent, { nonce })])).toEqual(['NONCE_REPLAYED']);
      const repeated = await post(two.either(1), site.writeKey, SINGLE, consent);
      expect(ConsentResponse.parse(repeated.body).data.duplicate).toBe(true);
    }
  });

  it('refuses used nonces while a reader holds up expiry, and expires them afterwards', async () => {
    const site = await createSiteFixture(two.database.owner);
    const nonce = randomUUID();
    const send = (i: number) => post(two.either(i), site.writeKey, SINGLE, cookie(site), { nonce });
    expect((await send(0)).status).toBe(202);
    await makeDue();
    await two.database.worker.query("select advance_admission_generation('nonces')");
    // The spare slot holds rows, as it does after a generation began.
    const slot = await slotOf('nonces');
    const spare = (slot + 1) % 3;
    await two.database.owner.query(`insert into nonces_${spare} values ('\\x02')`);
    await besideReader(async () => {
      for (let i = 0; i < 3; i += 1) {
        await makeDue();
        await maintainAdmission(two.database.worker);
        expect(codes([await send(i)])).toEqual(['NONCE_REPLAYED']);
      }
      expect(await slotOf('nonces')).toBe(slot);
    });
    await maintainAdmission(two.database.worker);
    expect(await slotOf('nonces')).toBe(spare);
    expect(await rowsIn('nonces', spare)).toBe(0);
  });
});
