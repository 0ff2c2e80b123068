import { createSecretKey, randomBytes, randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PublicEventBody } from '../../schemas/events/notices.js';
import { parseBody, parseRecord } from '../../schemas/events/sealed-event.js';
import { SUBJECT_ERASED, type SubjectErasedRecord } from '../../schemas/events/subject-erased.js';
import { announceErasures } from '../../src/erasure/announce-erasures.js';
import { lockSite } from '../../src/erasure/destroy.js';
import { type ErasureSubject, eraseSubject, openErasureJournal } from '../../src/erasure/index.js';
import { UnknownSite } from '../../src/erasure/journal.js';
import { withTransaction } from '../../src/platform/database/pool.js';
import {
  approvalTokenKey,
  blindIndex,
  createKeyring,
  createRandomPool,
  decryptForRecord,
  encryptForToken,
  recordKey,
  SEED_BYTES,
  sealOfKeyRow,
} from '../../src/platform/keys/index.js';
import { changeSite } from '../../src/tenancy/sites/change-site.js';
import { type LedgerWorld, openLedgerWorld } from '../evidence/package/ledger-world.js';
import { count } from '../pipeline/relay/pipeline.js';

let world: LedgerWorld;
beforeAll(async () => {
  world = await openLedgerWorld();
});
afterAll(() => world.close());

function journal() {
  return openErasureJournal(join(world.folder, 'journal', 'erasures.ndjson'));
}

function erase(by: ErasureSubject, siteId = world.site.siteId) {
  const { pipeline, keyring } = world;
  return eraseSubject({ db: pipeline.worker, keyring, journal: journal() }, { siteId, by });
}

/** Announces what is erased. @returns the `SubjectErased` events of a site in the outbox, in order */
async function erasuresInOutbox(siteId = world.site.siteId): Promise<SubjectErasedRecord[]> {
  await announceErasures({ db: world.pipeline.worker });
  const { rows } = await world.pipeline.owner.query(
    'select type, data as body from event_log.stored_events where site_id = $1 and type = $2 order by revision',
    [siteId, SUBJECT_ERASED],
  );
  return z
    .array(z.object({ type: z.string(), body: z.instanceof(Buffer) }))
    .parse(rows)
    .map(({ type, body }) => parseRecord(SUBJECT_ERASED, parseBody(PublicEventBody, type, body).record));
}

/** Every row of every table, as text. */
async function dump(db: pg.Pool): Promise<string> {
  const { rows } = await db.query(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables where schemaname not in ('pg_catalog', 'information_schema')`,
  );
  const parts: string[] = [];
  for (const { name } of z.array(z.object({ name: z.string() })).parse(rows)) {
    const table = await db.query(`select t::text as row from ${name} t`);
    parts.push(
      ...z
        .array(z.object({ row: z.string() }))
        .parse(table.rows)
        .map(({ row }) => row),
    );
  }
  return parts.join('\n');
}

async function approvalToken(id: string, visitorId: string, email: string, consumedBy: string | null): Promise<void> {
  const { pipeline, keyring, site } = world;
  const random = createRandomPool();
  const siteKey = await keyring.siteKey(site.siteId);
  const seed = random.take(SEED_BYTES);
  const identity = encryptForToken(approvalTokenKey(siteKey, seed, id), id, Buffer.from(email), random);
  await pipeline.owner.query(
    `insert into approval_tokens (id, site_id, digest, document_id, seed, identity, visitor_index, email_index, created_at, expires_at, consumed_by)
     values ($1, $2, sha256($1::text::bytea), $3, $4, $5, $6, $7, now(), now() + interval '1 hour', $8)`,
    [
      ...[id, site.siteId, site.formDocumentId, seed, identity, blindIndex(siteKey, 'visitor', visitorId)],
      ...[blindIndex(siteKey, 'email', email), consumedBy],
    ],
  );
}

it.each(['lockSite', 'changeSite'] as const)(
  'lets a row be changed and sealed while another transaction holds the lock of %s',
  async (lock) => {
    const { owner, worker } = world.pipeline;
    const { siteId } = world.site;
    const { id: requestId } = await erase({ kind: 'visitor', value: `unknown ${lock}` });
    const held = (work: () => Promise<void>): Promise<void> =>
      lock === 'lockSite'
        ? withTransaction(worker, async (db) => {
            expect(await lockSite(db, siteId)).toBe(true);
            await work();
          })
        : withTransaction(owner, (db) => changeSite(db, siteId, () => work()));
    // The second change of a row in one transaction checks its foreign keys.
    await held(() =>
      withTransaction(owner, async (db) => {
        await db.query("set local lock_timeout = '2s'");
        for (const count of [1, 0])
          await db.query('update erasure_requests set erased_count = erased_count + $2 where id = $1', [
            requestId,
            count,
          ]);
      }),
    );
  },
);

describe('erasing a person', () => {
  it('leaves no trace of the values, and no key that decrypts the ciphertexts', async () => {
    const { pipeline, site, master } = world;
    const image = Buffer.from('a drawn name');
    const ids = await world.record(site, [
      { visitorId: 'visitor-ada', fields: { signer_name: 'Ada Lovelace' }, signature: image },
      { visitorId: 'visitor-bob', fields: { signer_name: 'Bob' }, signature: image },
    ]);
    await approvalToken('atk_used', 'visitor-ada', 'ada@example.com', ids[0] ?? null);
    await approvalToken('atk_unused', 'visitor-ada', 'ada@example.com', null);
    await approvalToken('atk_other', 'visitor-bob', 'bob@example.com', null);
    const siteKey = await world.keyring.siteKey(site.siteId);
    const index = blindIndex(siteKey, 'visitor', 'visitor-ada').toString('hex');
    expect(await dump(pipeline.owner)).toContain(index);

    const receipt = await erase({ kind: 'visitor', value: 'visitor-ada' });
    expect(receipt).toMatchObject({ reason: 'person', erasedRecords: 1, deletedApprovalTokens: 2 });

    const tables = await dump(pipeline.owner);
    for (const value of ['visitor-ada', 'Ada Lovelace', 'ada@example.com', 'a drawn name', index]) {
      expect(tables).not.toContain(value);
      expect(tables).not.toContain(Buffer.from(value).toString('hex'));
      expect(tables).not.toContain(Buffer.from(value).toString('base64'));
      expect(await readFile(join(world.folder, 'journal', 'erasures.ndjson'), 'utf8')).not.toContain(value);
    }
    // With the master key and every 16 bytes of every table, no ciphertext of the record decrypts.
    const keyring = await createKeyring(pipeline.worker, createSecretKey(master));
    const again = await keyring.siteKey(site.siteId);
    const outbox = await pipeline.owner.query('select data as body from event_log.events where id = $1', [ids[0]]);
    const [{ body }] = z.tuple([z.object({ body: z.instanceof(Buffer) })]).parse(outbox.rows);
    const { disclosures } = z.object({ disclosures: z.base64() }).parse(JSON.parse(body.toString()));
    const blob = Buffer.from(disclosures, 'base64');
    const seeds = [...tables.matchAll(/\\x([0-9a-f]{32})(?![0-9a-f])/g)].map(([, hex]) =>
      Buffer.from(hex ?? '', 'hex'),
    );
    expect(seeds.length).toBeGreaterThan(0);
    for (const seed of seeds) {
      const key = recordKey(again, seed, ids[0] ?? '');
      expect(() => decryptForRecord(key, ids[0] ?? '', 'disclosures', blob)).toThrow();
    }
    // The other person's record is untouched.
    expect(await count(pipeline.owner, 'record_keys where event_id = $1', [ids[1]])).toBe(1);
    expect(await count(pipeline.owner, 'attachments where event_id = $1', [ids[1]])).toBe(1);
    expect(await count(pipeline.owner, `approval_tokens where id = 'atk_other'`)).toBe(1);
    expect(await erasuresInOutbox()).toMatchObject([{ reason: 'person', erased_event_id: ids[0] }]);
  });

  it('deletes an unused approval token of a person without records, and logs nothing', async () => {
    await approvalToken('atk_lonely', 'visitor-eve', 'Eve@Example.com', null);
    const before = (await erasuresInOutbox()).length;
    const receipt = await erase({ kind: 'email', value: ' eve@example.COM' });
    expect(receipt).toMatchObject({ erasedRecords: 0, deletedApprovalTokens: 1, eventIds: [] });
    expect(await erasuresInOutbox()).toHaveLength(before);
  });

  it('reports that nothing was found for an unknown person, record or site', async () => {
    const { pipeline, otherSite } = world;
    const before = (await erasuresInOutbox()).length;
    const nothing = { erasedRecords: 0, deletedApprovalTokens: 0, eventIds: [] };
    expect(await erase({ kind: 'visitor', value: 'nobody' })).toMatchObject(nothing);
    const [foreign = ''] = await world.record(otherSite, [{ visitorId: 'visitor-ada' }]);
    expect(await erase({ kind: 'record', eventId: foreign })).toMatchObject(nothing);
    expect(await count(pipeline.owner, 'record_keys where event_id = $1', [foreign])).toBe(1);
    expect(await erasuresInOutbox()).toHaveLength(before);
    const unknown = '00000000-0000-7000-8000-000000000000';
    await expect(erase({ kind: 'visitor', value: 'x' }, unknown)).rejects.toBeInstanceOf(UnknownSite);
  });

  it('announces each record by its own event', async () => {
    const { pipeline, otherSite, keyring } = world;
    const siteKey = await keyring.siteKey(otherSite.siteId);
    const visitor = blindIndex(siteKey, 'visitor', 'frequent');
    const indexes = { visitor, email: null, phone: null, id_number: null };
    const rows = Array.from({ length: 2500 }, () => {
      const [id, seed] = [randomUUID(), randomBytes(16)];
      return { id, seed, seal: sealOfKeyRow(recordKey(siteKey, seed, id), indexes) };
    });
    await pipeline.owner.query(
      `insert into record_keys (event_id, site_id, seed, visitor_index, seal)
       select k.id, $1, k.seed, $2, k.seal from unnest($3::uuid[], $4::bytea[], $5::bytea[]) as k (id, seed, seal)`,
      [otherSite.siteId, visitor, rows.map(({ id }) => id), rows.map(({ seed }) => seed), rows.map(({ seal }) => seal)],
    );
    const receipt = await erase({ kind: 'visitor', value: 'frequent' }, otherSite.siteId);
    expect(receipt).toMatchObject({ erasedRecords: 2500 });
    const erasures = await erasuresInOutbox(otherSite.siteId);
    expect(erasures).toHaveLength(2500);
    expect(new Set(erasures.map((erasure) => erasure.erased_event_id)).size).toBe(2500);
  });
});

describe('erasing by record and by age', () => {
  it('erases only that record, or only older records of the site', async () => {
    const { pipeline, site, otherSite } = world;
    const at = (year: number) => new Date(Date.UTC(year, 0, 1));
    const old = await world.record(
      site,
      [2019, 2020, 2021].map((year) => ({ visitorId: `of ${year}`, at: at(year) })),
    );
    const others = await world.record(otherSite, [{ visitorId: 'of 2019', at: at(2019) }]);
    expect(await erase({ kind: 'record', eventId: old[2] ?? '' })).toMatchObject({
      reason: 'record',
      erasedRecords: 1,
    });
    const receipt = await erase({ kind: 'retention', before: at(2021) });
    expect(receipt).toMatchObject({ reason: 'retention', erasedRecords: 2 });
    expect(await count(pipeline.owner, 'record_keys where event_id = any($1)', [old])).toBe(0);
    expect(await count(pipeline.owner, 'record_keys where event_id = any($1)', [others])).toBe(1);
  });
});

describe('an erasure during the arrival of consents', () => {
  it('erases every earlier record, and announces each once', async () => {
    const { pipeline, site } = world;
    const before = await world.record(
      site,
      Array.from({ length: 20 }, () => ({ visitorId: 'busy' })),
    );
    let stop = false;
    const arriving = (async () => {
      while (!stop) await world.record(site, [{ visitorId: 'busy' }]);
    })();
    const receipts = await Promise.all([1, 2, 3].map(() => erase({ kind: 'visitor', value: 'busy' })));
    stop = true;
    await arriving;
    const last = await erase({ kind: 'visitor', value: 'busy' });
    expect(await count(pipeline.owner, 'record_keys where event_id = any($1)', [before])).toBe(0);
    const announced = (await erasuresInOutbox()).map((erasure) => erasure.erased_event_id);
    expect(new Set(announced).size).toBe(announced.length);
    const erased = [...receipts, last].reduce((sum, receipt) => sum + receipt.erasedRecords, 0);
    const recorded = await count(
      pipeline.owner,
      `event_log.events o where type = 'ConsentRecorded.v1' and exists (select from erased_records e where e.event_id = o.id) and id >= $1`,
      [before[0]],
    );
    expect(erased).toBe(recorded);
  });
});
