import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import type pg from 'pg';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256 } from '../../../schemas/crypto/digest.js';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { consentsStream, noticesStream } from '../../../schemas/events/streams.js';
import { eraseSubject, openErasureJournal } from '../../../src/erasure/index.js';
import { type ExportRequest, exportEvidence } from '../../../src/evidence/package/export-evidence.js';
import type { EventLog } from '../../../src/pipeline/event-log/port.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from './ledger-world.js';
import { entriesOf, manifestOf, problemsOf, unpack, verify } from './reading-packages.js';

let world: LedgerWorld;
let early: string[];
let signed: string[];
let late: string[];
const signature = randomBytes(3_000);
const HOUR = 3_600_000;
let exports = 0;

beforeAll(async () => {
  world = await openLedgerWorld();
  const { site, otherSite } = world;
  const visitor = (n: number) => ({ visitorId: `visitor-${n}`, fields: { ip_address: `192.0.2.${n}` } });
  early = await world.record(site, [0, 1, 2, 3, 4, 5, 6].map(visitor));
  await world.record(otherSite, [visitor(0), visitor(90)]);
  await world.stamp(5);
  signed = await world.record(site, [
    { visitorId: 'ann', signature, fields: { signer_email: 'ann@example.com' }, consentType: 'form' },
    { visitorId: 'ann', signature, fields: { signer_email: 'ann@example.com' }, consentType: 'form' },
    { visitorId: 'ben', version: 'cookieTr' },
  ]);
  await world.stamp();
  late = await world.record(site, [{ visitorId: 'ann', at: new Date(Date.now() + HOUR / 60) }]);
  await world.seal();
  await world.record(site, [{ visitorId: 'cem' }]);
});

afterAll(() => world.close());

function request(changes: Partial<ExportRequest> = {}): ExportRequest {
  exports += 1;
  return {
    siteId: world.site.siteId,
    filter: {},
    disclose: 'all',
    output: join(world.folder, `package-${exports}.zip`),
    exportedBy: 'test',
    ...changes,
  };
}

function run(changes: Partial<ExportRequest> = {}) {
  const { pipeline, keyring } = world;
  return exportEvidence(
    { db: pipeline.worker, eventLog: pipeline.eventLog, keyring, origin: ORIGIN },
    request(changes),
  );
}

describe('an export of a site', () => {
  it('contains every event below the checkpoint, and verifies as valid', async () => {
    const { path, counts, checkpoint } = await run();
    const report = await verify(world, path);
    expect(problemsOf(report)).toEqual([]);
    expect(report.verdict).toBe('valid');
    const files = await unpack(path);
    const entries = entriesOf(files);
    expect(entries.map(({ entry }) => entry.event_id)).toEqual(expect.arrayContaining([...early, ...signed]));
    expect(entries.every(({ entry }) => entry.stream.endsWith(world.site.siteId))).toBe(true);
    expect(counts).toMatchObject({ consents: 10, erased: 0, attachments: 1, not_yet_stamped: 2 });
    expect(manifestOf(files)).toMatchObject({
      checkpoint,
      development: true,
      complete: [
        { stream: consentsStream(world.site.siteId), first: 0, last: 9 },
        { stream: noticesStream(world.site.siteId), first: 0 },
      ],
    });
  });

  it('discloses only the requested fields', async () => {
    const all = await unpack((await run()).path);
    const ann = entriesOf(all).find(({ entry }) => entry.event_id === signed[0]);
    expect(ann?.values).toMatchObject({ visitor_id: 'ann', signer_email: 'ann@example.com' });
    expect(all.get(`attachments/${toHex(sha256(signature))}`)).toEqual(signature);

    const some = await run({ disclose: ['visitor_id'] });
    expect((await verify(world, some.path)).verdict).toBe('valid');
    const someFiles = await unpack(some.path);
    expect(Object.keys(entriesOf(someFiles).find(({ entry }) => entry.event_id === signed[0])?.values ?? {})).toEqual([
      'visitor_id',
    ]);
    expect([...someFiles.keys()].filter((name) => name.startsWith('attachments/'))).toEqual([]);

    const none = await run({ disclose: 'none' });
    expect((await verify(world, none.path)).verdict).toBe('valid');
    expect(entriesOf(await unpack(none.path)).flatMap(({ line }) => line.disclosures)).toEqual([]);
  });
});

describe('a filtered export', () => {
  it('of a time range contains the run around it, and withholds the values outside', async () => {
    const records = entriesOf(await unpack((await run()).path)).filter(({ entry }) => early.includes(entry.event_id));
    const from = String(records[2]?.entry.record.created_at);
    const { path, counts } = await run({ filter: { from, consentType: 'cookie' } });
    const report = await verify(world, path);
    expect(problemsOf(report)).toEqual([]);
    const files = await unpack(path);
    const [consents] = manifestOf(files).complete;
    expect(consents?.last).toBe(9);
    const caveat = { package: 'example a later withdrawal', report: 'A later withdrawal may be missing' };
    expect(String(files.get('README.txt'))).toContain(caveat.package);
    expect(report.not_proved.join()).toContain(caveat.report);
    expect(report.coverage).toMatchObject({ consents: { is_whole: false }, notices: { is_whole: true } });
    const form = entriesOf(files).find(({ entry }) => entry.event_id === signed[0]);
    const begun = await run({ filter: { to: String(form?.entry.record.created_at) } });
    expect(manifestOf(await unpack(begun.path)).complete[0]).toMatchObject({ first: 0, last: 6 });
    expect(String((await unpack(begun.path)).get('README.txt'))).toContain(caveat.package);
    // Its batches reach no further than it does: that they were all is not said.
    expect((await verify(world, begun.path)).not_proved.join()).toContain(caveat.report);
    const shown = entriesOf(files).filter(({ line }) => line.disclosures.length > 0);
    expect(shown.length).toBeGreaterThan(0);
    for (const { entry } of shown) {
      expect(entry.record.consent_type).toBe('cookie');
      expect(String(entry.record.created_at) >= from).toBe(true);
    }
    const forms = entriesOf(files).filter(({ entry }) => entry.record.consent_type === 'form');
    expect(forms.map(({ line }) => line.disclosures)).toEqual([[], []]);
    expect(counts.not_yet_stamped).toBe(2);
  });

  it('of a person contains only that person’s records, and the manifest does not name the person', async () => {
    const { path, counts, filterDisclosures } = await run({ filter: { visitorId: 'ann' } });
    const report = await verify(world, path);
    expect(problemsOf(report)).toEqual([]);
    const files = await unpack(path);
    const consents = entriesOf(files).filter(({ entry }) => entry.stream === consentsStream(world.site.siteId));
    expect(consents.map(({ entry }) => entry.event_id)).toEqual(signed.slice(0, 2));
    expect(counts).toMatchObject({ consents: 2, not_yet_stamped: 1 });
    const manifest = manifestOf(files);
    expect(manifest.complete.map(({ stream }) => stream)).toEqual([noticesStream(world.site.siteId)]);
    expect(JSON.stringify(manifest)).not.toContain('ann');
    expect(manifest.filter.person).toMatchObject({ records: 2 });
    expect(filterDisclosures).toHaveLength(1);
    expect(Buffer.from(filterDisclosures[0] ?? '', 'base64url').toString()).toContain('"visitor_id","ann"');
  });

  it('of records contains only those records, of this site only', async () => {
    const { path, counts } = await run({ filter: { eventIds: [early[1] ?? '', late[0] ?? ''] } });
    // The second one is not stamped yet.
    expect(problemsOf(await verify(world, path)).join()).toMatch(/^completeness\.events: this record was requested/);
    expect(counts).toMatchObject({ consents: 1, not_yet_stamped: 1 });
    const others = await run({ siteId: world.otherSite.siteId, filter: { eventIds: [early[1] ?? ''] } });
    expect(others.counts.consents).toBe(0);
  });

  it('without a match is empty, and states it', async () => {
    const { path, counts } = await run({ filter: { consentType: 'nothing' } });
    expect(counts).toMatchObject({ consents: 0, not_yet_stamped: 0 });
    const report = await verify(world, path);
    expect(report.verdict).toBe('indeterminate');
    expect(problemsOf(report)).toEqual([expect.stringContaining('package.records')]);
  });

  it('refuses an invalid filter and an existing output file', async () => {
    const filter = { from: '2026-01-02T00:00:00.000Z', to: '2026-01-01T00:00:00.000Z' };
    await expect(run({ filter })).rejects.toMatchObject({ problem: 'invalid-filter' });
    const { path } = await run({ disclose: 'none' });
    await expect(run({ output: path })).rejects.toMatchObject({ problem: 'output-exists' });
  });
});

describe('after an erasure', () => {
  it('marks the record as erased once the erasure is stamped, without its values', async () => {
    const { pipeline, keyring, folder, site } = world;
    const journal = openErasureJournal(join(folder, 'erasures.ndjson'));
    const before = await run();
    const receipt = await eraseSubject(
      { db: pipeline.worker, keyring, journal },
      { siteId: site.siteId, by: { kind: 'visitor', value: 'visitor-3' } },
    );
    expect(receipt.erasedRecords).toBe(1);

    const unstamped = await run();
    expect(problemsOf(await verify(world, unstamped.path)).join()).toMatch(
      /^disclosure\.complete: a value is withheld/,
    );
    const withheld = entriesOf(await unpack(unstamped.path)).find(({ entry }) => entry.event_id === early[3]);
    expect(withheld?.line).toMatchObject({ disclosures: [] });
    expect(withheld?.line.erased).toBeUndefined();

    await world.stamp();
    const after = await run();
    expect(problemsOf(await verify(world, after.path))).toEqual([]);
    expect(after.counts).toMatchObject({ erased: 1, not_yet_stamped: 0 });
    const files = await unpack(after.path);
    expect(entriesOf(files).find(({ entry }) => entry.event_id === early[3])?.line.erased).toBeDefined();
    for (const content of files.values()) expect(content.includes('visitor-3')).toBe(false);

    // The package made before the erasure is unchanged and remains valid.
    expect((await verify(world, before.path)).verdict).toBe('valid');
    // The erasure is outside the filter, but is enclosed.
    const single = await run({ filter: { eventIds: [early[3] ?? ''] } });
    expect(problemsOf(await verify(world, single.path))).toEqual([]);
    expect(single.counts).toMatchObject({ consents: 1, erased: 1 });
    const range = await run({ filter: { to: String(withheld?.entry.record.created_at), consentType: 'cookie' } });
    expect(problemsOf(await verify(world, range.path))).toEqual([]);
  });

  it('stops a running export, and leaves no file', async () => {
    const { pipeline, keyring, folder, site } = world;
    const journal = openErasureJournal(join(folder, 'erasures.ndjson'));
    const erase = () =>
      eraseSubject(
        { db: pipeline.worker, keyring, journal },
        { siteId: site.siteId, by: { kind: 'visitor', value: 'visitor-4' } },
      );
    const { eventLog } = pipeline;
    let reads = 0;
    const readStream: EventLog['readStream'] = async (...wanted) => {
      const page = await eventLog.readStream(...wanted);
      reads += 1;
      if (reads === 1) expect(await erase()).toMatchObject({ erasedRecords: 1, cancelledExports: 1 });
      return page;
    };
    const interrupted = new Proxy(eventLog, {
      get: (target, name) => (name === 'readStream' ? readStream : Reflect.get(target, name)),
    });
    const exporting = exportEvidence(
      { db: pipeline.worker, eventLog: interrupted, keyring, origin: ORIGIN },
      request({ output: join(folder, 'cancelled.zip') }),
    );
    await expect(exporting).rejects.toMatchObject({ problem: 'cancelled-by-erasure' });
    expect((await readdir(folder)).filter((name) => name.startsWith('cancelled'))).toEqual([]);
  });

  it('stops an export that gives way meanwhile', async () => {
    const { pipeline, keyring, folder, site } = world;
    const journal = openErasureJournal(join(folder, 'erasures.ndjson'));
    let rests = 0;
    const exporting = exportEvidence(
      {
        db: pipeline.worker,
        eventLog: pipeline.eventLog,
        keyring,
        origin: ORIGIN,
        yieldToAdmission: async () => {
          rests += 1;
          await eraseSubject(
            { db: pipeline.worker, keyring, journal },
            { siteId: site.siteId, by: { kind: 'visitor', value: 'visitor-5' } },
          );
        },
      },
      request({ output: join(folder, 'resting.zip') }),
    );
    await expect(exporting).rejects.toMatchObject({ problem: 'cancelled-by-erasure' });
    expect(rests).toBe(1);
    expect((await readdir(folder)).filter((name) => name.startsWith('resting'))).toEqual([]);
  });
});

describe('a log and a ledger that contradict each other', () => {
  it('never result in a package', async () => {
    const { pipeline, folder } = world;
    const output = join(folder, 'different.zip');
    const { owner } = pipeline;
    const alterations = [
      `update batches set leaves = sha256(leaves) where number = (select batch from leaves where event_id = '${early[2]}')`,
      `update sealed_events set event_id = gen_random_uuid() where event_id = '${early[2]}'`,
      `update batches set header = replace(header, '"v":1', '"v":2')`,
      `update ledger_nodes set hash = sha256(hash) where level = 0 and index = 0`,
      `update checkpoint_tokens set tsr = tsr || '\\x00'`,
      `update checkpoint_tokens set tsr_sha256 = repeat('ab', 32)`,
      `update checkpoints set tokens = 2`,
      `update evidence_parts set bytes = bytes || '\\x00'`,
    ];
    for (const alteration of alterations) {
      const client = await owner.connect();
      try {
        // Only readers in this transaction see the alteration, which is rolled back.
        await client.query('begin');
        expect((await client.query(alteration)).rowCount).toBeGreaterThan(0);
        const pool = poolOf(client);
        const { eventLog } = pipeline;
        const exporting = exportEvidence(
          { db: pool, eventLog, keyring: world.keyring, origin: ORIGIN },
          request({ output }),
        );
        await expect(exporting, alteration).rejects.toMatchObject({ problem: 'log-and-ledger-differ' });
      } finally {
        await client.query('rollback');
        client.release();
      }
    }
    expect((await readdir(folder)).filter((name) => name.startsWith('different'))).toEqual([]);
  });
});

/** A pool with one connection that is in a transaction. */
function poolOf(db: pg.PoolClient): pg.Pool {
  return new Proxy(world.pipeline.owner, {
    get: (target, name) => (name === 'query' ? db.query.bind(db) : Reflect.get(target, name)),
  });
}
