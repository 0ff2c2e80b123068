import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRateLimiter } from '../../../src/api/guards/rate-limiter.js';
import { type AdmissionDatabase, openAdmissionDatabase } from '../../pipeline/admission/database.js';
import { until } from '../../support/wait.js';

const hashKey = new Uint8Array(32).fill(7);

/** Lets all windows be as if they had been counted some seconds earlier. */
async function passSeconds(owner: pg.Pool, seconds: number): Promise<void> {
  await owner.query('update rate_limit_windows set newest = newest - $1', [seconds]);
}

describe('rate limiter', () => {
  let database: AdmissionDatabase;
  beforeAll(async () => {
    database = await openAdmissionDatabase();
  });
  afterAll(() => database.close());

  it('grants exactly the limit over two processes at once', async () => {
    const limiters = [database.db, database.secondPool].map((pool) => createRateLimiter({ db: pool, hashKey }));
    const decisions = await Promise.all(
      Array.from({ length: 400 }, async (_, i) => {
        const limiter = limiters[i % 2];
        if (limiter === undefined) throw new Error('no limiter');
        return limiter.take('site', 'a', 120);
      }),
    );
    expect(decisions.filter((decision) => decision.allowed)).toHaveLength(120);
    expect(new Set(decisions.filter((d) => d.allowed).map((d) => d.remaining)).size).toBe(120);
    for (const decision of decisions) {
      expect(decision.limit).toBe(120);
      expect(decision.resetSeconds).toBeGreaterThanOrEqual(1);
      expect(decision.resetSeconds).toBeLessThanOrEqual(61);
    }
  });

  it('counts scopes and keys apart, and looks without taking', async () => {
    const limiter = createRateLimiter({ db: database.db, hashKey });
    expect(await limiter.peek('x', 'k', 1)).toMatchObject({ allowed: true, remaining: 1 });
    expect(await limiter.take('x', 'k', 1)).toMatchObject({ allowed: true, remaining: 0 });
    expect(await limiter.take('x', 'k', 1)).toMatchObject({ allowed: false, remaining: 0 });
    expect(await limiter.peek('x', 'k', 1)).toMatchObject({ allowed: false });
    expect(await limiter.take('y', 'k', 1)).toMatchObject({ allowed: true });
    expect(await limiter.take('x', 'k2', 1)).toMatchObject({ allowed: true });
  });

  it('lets no span of 60 seconds have more than the limit, and frees each request after it', async () => {
    const limiter = createRateLimiter({ db: database.db, hashKey });
    const take = (): Promise<boolean> => limiter.take('slide', 'a', 10).then(({ allowed }) => allowed);
    const granted = async (): Promise<number> =>
      (await Promise.all(Array.from({ length: 20 }, take))).filter(Boolean).length;
    expect(await granted()).toBe(10);
    // The clock of the database runs too: some seconds of it may pass in each step.
    await passSeconds(database.owner, 20);
    expect(await granted()).toBe(0);
    await passSeconds(database.owner, 20);
    expect(await granted()).toBe(0);
    await passSeconds(database.owner, 22);
    expect(await limiter.take('slide', 'a', 10)).toMatchObject({ allowed: true, remaining: 9 });
    await passSeconds(database.owner, 40);
    expect(await granted()).toBe(9);
    await passSeconds(database.owner, 22);
    expect(await granted()).toBe(1);
  });

  it('does not count refused requests, and says when the next one is free', async () => {
    const limiter = createRateLimiter({ db: database.db, hashKey });
    await limiter.take('refused', 'a', 1);
    for (let i = 0; i < 50; i += 1) await limiter.take('refused', 'a', 1);
    await passSeconds(database.owner, 40);
    const { allowed, resetSeconds } = await limiter.take('refused', 'a', 1);
    expect(allowed).toBe(false);
    await passSeconds(database.owner, resetSeconds);
    expect(await limiter.take('refused', 'a', 1)).toMatchObject({ allowed: true });
  });

  it('takes nothing for requests that ask for more than is left', async () => {
    const limiter = createRateLimiter({ db: database.db, hashKey });
    expect(await limiter.take('batch', 'a', 10, 8)).toMatchObject({ allowed: true, remaining: 2 });
    expect(await limiter.take('batch', 'a', 10, 5)).toMatchObject({ allowed: false });
    expect(await limiter.take('batch', 'a', 10, 2)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('neither forgets requests nor refuses for hours after a clock was set back', async () => {
    const limiter = createRateLimiter({ db: database.db, hashKey });
    await database.owner.query('delete from rate_limit_windows');
    await limiter.take('clock', 'a', 1);
    await passSeconds(database.owner, -36_000);
    expect(await limiter.take('clock', 'a', 1)).toMatchObject({ allowed: false });
    await passSeconds(database.owner, 125);
    expect(await limiter.take('clock', 'a', 1)).toMatchObject({ allowed: true });
  });

  it('takes the newest request back', async () => {
    const limiter = createRateLimiter({ db: database.db, hashKey });
    await limiter.take('back', 'a', 1);
    await passSeconds(database.owner, 5);
    await limiter.giveBack('back', 'a');
    await limiter.giveBack('back', 'a');
    expect(await limiter.take('back', 'a', 1)).toMatchObject({ allowed: true, remaining: 0 });
  });

  it('keeps nothing readable, and sweeps windows in which nothing counts', async () => {
    const limiter = createRateLimiter({ db: database.db, hashKey });
    await limiter.take('ip', '192.0.2.77', 1);
    const { rows } = await database.owner.query("select encode(bucket, 'escape') as bucket from rate_limit_windows");
    expect(JSON.stringify(rows)).not.toContain('192.0.2.77');
    await limiter.sweep();
    expect((await database.owner.query('select from rate_limit_windows')).rowCount).not.toBe(0);
    await passSeconds(database.owner, 63);
    await limiter.sweep();
    expect((await database.owner.query('select from rate_limit_windows')).rowCount).toBe(0);
  });

  it('loses no count when a window is swept at the same time', async () => {
    const { db, owner } = database;
    const limiter = createRateLimiter({ db, hashKey });
    await limiter.take('swept', 'a', 1);
    await passSeconds(owner, 120);
    // The function waits at the gate after it has seen the window, and before it locks it.
    await owner.query(`
      create function gate() returns trigger language plpgsql as
        'begin perform pg_advisory_xact_lock(42); return null; end';
      create trigger gate after insert on rate_limit_windows for each statement execute function gate()`);
    const holder = await owner.connect();
    try {
      await holder.query('select pg_advisory_lock(42)');
      const taken = limiter.take('swept', 'a', 1);
      await until(async () => {
        const { rowCount } = await holder.query(
          `select from pg_stat_activity
            where datname = current_database() and wait_event = 'advisory' and query like '%take_rate_limits%'`,
        );
        return rowCount === 1;
      });
      await holder.query('select sweep_rate_limits()');
      await holder.query('select pg_advisory_unlock(42)');
      expect(await taken).toMatchObject({ allowed: true });
    } finally {
      holder.release();
      await owner.query('drop trigger gate on rate_limit_windows; drop function gate()');
    }
    expect(await limiter.take('swept', 'a', 1)).toMatchObject({ allowed: false });
  });

  it('answers 503 with a time to wait when the database is gone', async () => {
    const other = await openAdmissionDatabase();
    const limiter = createRateLimiter({ db: other.db, hashKey });
    await limiter.take('site', 'a', 1);
    await other.close();
    await expect(limiter.take('site', 'a', 1)).rejects.toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      details: { retryAfterSeconds: expect.any(Number) },
    });
  });
});
