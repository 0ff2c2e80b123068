import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { announceErasures } from '../../src/erasure/announce-erasures.js';
import { resumeErasures } from '../../src/erasure/erase-subject.js';
import { applyErasures, eraseSubject, openErasureJournal } from '../../src/erasure/index.js';
import { type LedgerWorld, openLedgerWorld } from '../evidence/package/ledger-world.js';
import { count } from '../pipeline/relay/pipeline.js';

let world: LedgerWorld;
let folder: string;
beforeAll(async () => {
  world = await openLedgerWorld();
  folder = await mkdtemp(join(tmpdir(), 'erasure-test-'));
});
afterAll(async () => {
  await world.close();
  await rm(folder, { recursive: true, force: true });
});

class Crash extends Error {}

/** A pool that fails at its nth statement, before or after the statement runs. */
function crashingPool(db: pg.Pool, at: number, when: 'before' | 'after'): { db: pg.Pool; ran: () => number } {
  let statements = 0;
  const query =
    (target: Pick<pg.Pool, 'query'>) =>
    async (text: string, values?: unknown[]): Promise<unknown> => {
      statements += 1;
      if (statements > at && at >= 0) throw new Crash();
      if (statements === at && when === 'before') throw new Crash();
      const result = await target.query(text, values);
      if (statements === at) throw new Crash();
      return result;
    };
  const wrapped = new Proxy(db, {
    get(target, name) {
      if (name === 'query') return query(target);
      if (name !== 'connect') return Reflect.get(target, name);
      return async () => {
        const client = await target.connect();
        return new Proxy(client, {
          get(inner, member) {
            if (member === 'query') return query(inner);
            // A crashed process returns no connection: the server rolls its transaction back.
            if (member === 'release') return () => inner.release(statements >= at && at >= 0);
            const value: unknown = Reflect.get(inner, member);
            return typeof value === 'function' ? value.bind(inner) : value;
          },
        });
      };
    },
  });
  return { db: wrapped, ran: () => statements };
}

describe('an interrupted erasure', () => {
  it('is finished by the next start after a crash at any statement', async () => {
    const { pipeline, keyring, site } = world;
    const steps = await erase(-1, 'before');
    expect(steps).toBeGreaterThan(8);
    for (const when of ['before', 'after'] as const) {
      for (let at = 1; at <= steps; at += 1) await erase(at, when);
    }

    async function erase(at: number, when: 'before' | 'after'): Promise<number> {
      const where = `${when} statement ${at}`;
      const journal = openErasureJournal(join(folder, `${at} ${when}.ndjson`));
      await pipeline.owner.query('update erasure_progress set journal_offset = 0');
      const visitorId = `interrupted ${where}`;
      const ids = await world.record(site, [{ visitorId, signature: Buffer.from('x') }, { visitorId }]);
      const before = await count(pipeline.owner, 'erasure_requests');
      const crashing = crashingPool(pipeline.worker, at, when);
      const erasing = eraseSubject(
        { db: crashing.db, keyring, journal },
        { siteId: site.siteId, by: { kind: 'visitor', value: visitorId } },
      );
      if (at < 0) await erasing;
      else await expect(erasing, where).rejects.toBeInstanceOf(Crash);
      // Finished or not: one that counts as finished is not carried on.
      const wasAskedFor = (await count(pipeline.owner, 'erasure_requests')) > before;

      const { worker: pool, eventLog } = pipeline;
      await applyErasures({ db: pool, eventLog, journal });
      await resumeErasures({ db: pool, keyring, journal });
      await announceErasures({ db: pool });
      const keys = await count(pipeline.owner, 'record_keys where event_id = any($1)', [ids]);
      const images = await count(pipeline.owner, 'attachments where event_id = any($1)', [ids]);
      const announced = await count(pipeline.owner, 'erased_records where event_id = any($1)', [ids]);
      const events = await count(
        pipeline.owner,
        `event_log.events where id in (select erasure_event_id from erased_records where event_id = any($1))`,
        [ids],
      );
      if (wasAskedFor || keys === 0)
        expect({ keys, images, announced, events }, where).toEqual({ keys: 0, images: 0, announced: 2, events: 2 });
      else expect({ keys, images, announced, events }, where).toEqual({ keys: 2, images: 1, announced: 0, events: 0 });
      // No work remains, and a repetition changes nothing.
      const outbox = await count(pipeline.owner, 'event_log.events');
      await applyErasures({ db: pool, eventLog, journal });
      expect(await resumeErasures({ db: pool, keyring, journal })).toEqual([]);
      expect(await announceErasures({ db: pool })).toBe(0);
      expect(await count(pipeline.owner, 'event_log.events')).toBe(outbox);
      return crashing.ran();
    }
  });
});
