import { randomInt } from 'node:crypto';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { PublicEventBody } from '../../schemas/events/notices.js';
import { parseBody, parseRecord } from '../../schemas/events/sealed-event.js';
import { SUBJECT_ERASED } from '../../schemas/events/subject-erased.js';
import { announceDueErasures, announceErasures, shuffled } from '../../src/erasure/announce-erasures.js';
import { eraseSubject, openErasureJournal } from '../../src/erasure/index.js';
import { erasureReceipt } from '../../src/erasure/read-erasures.js';
import { type LedgerWorld, openLedgerWorld } from '../evidence/package/ledger-world.js';
import { count } from '../pipeline/relay/pipeline.js';

let world: LedgerWorld;
beforeEach(async () => {
  world = await openLedgerWorld();
});
afterEach(() => world.close());

function erase(value: string) {
  const { pipeline, keyring, site, folder } = world;
  const journal = openErasureJournal(join(folder, 'erasures.ndjson'));
  return eraseSubject(
    { db: pipeline.worker, keyring, journal },
    { siteId: site.siteId, by: { kind: 'visitor', value } },
  );
}

/** The announcements in the outbox, in order. */
async function announced() {
  const { rows } = await world.pipeline.owner.query(
    `select data as body from event_log.events where type = 'SubjectErased.v1' order by stream, revision`,
  );
  return rows.map(({ body }: { body: Buffer }) =>
    parseRecord(SUBJECT_ERASED, parseBody(PublicEventBody, SUBJECT_ERASED, body).record),
  );
}

it('destroys keys at once, and announces each record once, at the end of the interval', async () => {
  const { pipeline, site } = world;
  const ids = await world.record(site, [{ visitorId: 'ann' }, { visitorId: 'ann' }]);
  const receipt = await erase('ann');
  expect(await count(pipeline.owner, 'record_keys where event_id = any($1)', [ids])).toBe(0);
  expect(await announced()).toEqual([]);
  const HOUR = 3_600_000;
  const begin = new Date(Math.floor(Date.now() / HOUR) * HOUR + HOUR);
  await pipeline.owner.query('update erasure_progress set announced_at = $1', [begin]);
  const at = (ms: number) => ({ db: pipeline.worker, now: () => new Date(begin.getTime() + ms) });
  expect(await announceDueErasures(at(HOUR - 1), HOUR)).toBeNull();
  expect(await announceDueErasures(at(HOUR), HOUR)).toBe(2);
  expect(await announceDueErasures(at(HOUR + 1), HOUR)).toBeNull();
  expect(await announceDueErasures(at(2 * HOUR), HOUR)).toBe(0);
  const records = await announced();
  expect(records.map((record) => record.erased_event_id).sort()).toEqual([...ids].sort());
  // The time is that of the announcement, so that it agrees with the sealing.
  expect(new Set(records.map((record) => record.created_at))).toEqual(new Set([at(HOUR).now().toISOString()]));
  expect((await erasureReceipt(pipeline.worker, receipt.id))?.eventIds).toHaveLength(2);
});

it('does not tell two people of one interval apart by the order of announcements', async () => {
  const { pipeline, site } = world;
  const [ann, ben] = [
    await world.record(
      site,
      Array.from({ length: 4 }, () => ({ visitorId: 'ann' })),
    ),
    await world.record(
      site,
      Array.from({ length: 4 }, () => ({ visitorId: 'ben' })),
    ),
  ];
  await erase('ann');
  await erase('ben');
  const bounds: number[] = [];
  await announceErasures({
    db: pipeline.worker,
    random: (below) => {
      bounds.push(below);
      // Takes turns between both ends of the list.
      return below % 2 === 0 ? 0 : below - 1;
    },
  });
  expect(bounds).toEqual([8, 7, 6, 5, 4, 3, 2, 1]);
  const owners = (await announced()).map((record) => (ann.includes(record.erased_event_id) ? 'ann' : 'ben'));
  expect(owners).toHaveLength(ann.length + ben.length);
  expect(owners.join()).not.toMatch(/^(ann,){4}|^(ben,){4}/);
  // The ids of the events do not link them either: they are in the order of the announcements.
  const ids = (await announced()).map((record) => record.event_id);
  expect(ids).toEqual([...ids].sort());
});

it('announces each record once, although several processes announce at the same time', async () => {
  const { pipeline, site } = world;
  await world.record(
    site,
    Array.from({ length: 30 }, () => ({ visitorId: 'ann' })),
  );
  await erase('ann');
  const counts = await Promise.all([1, 2, 3].map(() => announceErasures({ db: pipeline.worker })));
  expect(counts.reduce((sum, one) => sum + one, 0)).toBe(30);
  expect(new Set((await announced()).map((record) => record.erased_event_id)).size).toBe(30);
});

it('shuffles so that every order is equally likely', () => {
  const orders = new Map<string, number>();
  const ROUNDS = 6_000;
  for (let i = 0; i < ROUNDS; i += 1) {
    const order = shuffled(['a', 'b', 'c'], (below) => randomInt(below)).join('');
    orders.set(order, (orders.get(order) ?? 0) + 1);
  }
  expect(orders.size).toBe(6);
  // Six standard deviations.
  for (const found of orders.values()) expect(Math.abs(found - ROUNDS / 6)).toBeLessThan(175);
});
