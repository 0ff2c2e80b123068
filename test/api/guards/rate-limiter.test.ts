import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRateLimiter } from '../../../src/api/guards/rate-limiter.js';
import { type AdmissionDatabase, openAdmissionDatabase } from '../../pipeline/admission/database.js';

const hashKey = new Uint8Array(32).fill(7);

/** Runs again where the minute changed meanwhile: then two windows were counted, rightly. */
async function withinOneMinute<T>(db: pg.Pool, work: (attempt: number) => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt += 1) {
    const before = await minuteOf(db);
    const result = await work(attempt);
    if ((await minuteOf(db)) === before || attempt === 5) return result;
  }
}

async function minuteOf(db: pg.Pool): Promise<unknown> {
  const { rows } = await db.query('select floor(extract(epoch from clock_timestamp()) / 60)::text as minute');
  return rows[0]?.minute;
}

describe('rate limiter', () => {
  let database: AdmissionDatabase;
  beforeAll(async () => {
    database = await openAdmissionDatabase();
  });
  afterAll(() => database.close());

  it('grants exactly the limit over two processes at once', async () => {
    const limiters = [database.db, database.secondPool].map((pool) => createRateLimiter({ db: pool, hashKey }));
    const decisions = await withinOneMinute(database.db, (attempt) =>
      Promise.all(
        Array.from({ length: 400 }, async (_, i) => {
          const limiter = limiters[i % 2];
          if (limiter === undefined) throw new Error('no limiter');
          return limiter.take('site', `a${attempt}`, 120);
        }),
      ),
    );
    expect(decisions.filter((decision) => decision.allowed)).toHaveLength(120);
    expect(new Set(decisions.filter((d) => d.allowed).map((d) => d.remaining)).size).toBe(120);
    for (const decision of decisions) {
      expect(decision.limit).toBe(120);
      expect(decision.resetSeconds).toBeGreaterThanOrEqual(1);
      expect(decision.resetSeconds).toBeLessThanOrEqual(60);
    }
  });

  it('counts scopes and keys apart, and looks without taking', async () => {
    const limiter = createRateLimiter({ db: database.db, hashKey });
    await withinOneMinute(database.db, async (attempt) => {
      const key = `k${attempt}`;
      expect(await limiter.peek('x', key, 1)).toMatchObject({ allowed: true, remaining: 1 });
      expect(await limiter.take('x', key, 1)).toMatchObject({ allowed: true, remaining: 0 });
      expect(await limiter.take('x', key, 1)).toMatchObject({ allowed: false, remaining: 0 });
      expect(await limiter.peek('x', key, 1)).toMatchObject({ allowed: false });
      expect(await limiter.take('y', key, 1)).toMatchObject({ allowed: true });
      expect(await limiter.take('x', `${key}2`, 1)).toMatchObject({ allowed: true });
    });
  });

  it('begins anew with the next window, keeps nothing readable, and sweeps old windows', async () => {
    const limiter = createRateLimiter({ db: database.db, hashKey });
    await limiter.take('ip', '192.0.2.77', 1);
    await database.owner.query('update rate_limit_windows set minute = minute - 1');
    expect(await limiter.take('ip', '192.0.2.77', 1)).toMatchObject({ allowed: true });
    const { rows } = await database.owner.query("select encode(bucket, 'escape') as bucket from rate_limit_windows");
    expect(JSON.stringify(rows)).not.toContain('192.0.2.77');
    await database.owner.query('update rate_limit_windows set minute = minute - 2');
    await limiter.sweep();
    expect((await database.owner.query('select from rate_limit_windows')).rowCount).toBe(0);
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
