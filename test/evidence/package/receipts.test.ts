import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { type ExportOptions, makeReceipt } from '../../../src/evidence/package/index.js';
import { memorySource, NotAPackage, type VerificationReport, verifyPackage } from '../../../verifier-cli/src/index.js';
import { writeZip } from '../../support/zip-writer.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from './ledger-world.js';
import { problemsOf } from './reading-packages.js';

let world: LedgerWorld;
let eventId: string;
let text: string;

beforeAll(async () => {
  world = await openLedgerWorld();
  await world.record(world.otherSite, [{ visitorId: 'somebody' }]);
  await world.stamp();
  [eventId = ''] = await world.record(world.site, [
    { visitorId: 'ann', fields: { signer_name: 'Ann' } },
    { visitorId: 'ben' },
  ]);
  await project();
  text = '';
});
afterAll(() => world.close());

/** Stands in for the projector: rows of the read model from the outbox. */
async function project(): Promise<void> {
  await world.pipeline.owner.query(`
    create schema if not exists read_model;
    create table if not exists read_model.consents (event_id uuid, site_id uuid, revision bigint);
    delete from read_model.consents;
    insert into read_model.consents (event_id, site_id, revision)
      select event_id, site_id, row_number() over (partition by stream order by seq) - 1 from outbox where stream like 'consents-%';
    grant select on read_model.consents to consent_ledger_worker`);
}

function options(): ExportOptions {
  const { pipeline, keyring } = world;
  return { db: pipeline.worker, eventLog: pipeline.eventLog, keyring, origin: ORIGIN };
}

function check(bytes: Uint8Array): Promise<VerificationReport> {
  return verifyPackage(memorySource(bytes), {
    trustAnchors: [world.tsaRoot],
    ledgerKeys: [world.ledgerKey],
    at: new Date(),
  });
}

it('is not there for an unknown record, nor before a stamp', async () => {
  expect(await makeReceipt(options(), randomUUID(), 'none')).toEqual({ kind: 'unknown' });
  expect(await makeReceipt(options(), eventId, 'none')).toEqual({ kind: 'not-stamped' });
});

it('verifies as strictly as a package, says nothing personal, and stays the same', async () => {
  await world.stamp();
  const made = await makeReceipt(options(), eventId, 'none');
  if (made.kind !== 'receipt') throw new Error(made.kind);
  text = JSON.stringify(made.receipt);
  const report = await check(Buffer.from(text));
  expect(problemsOf(report)).toEqual([]);
  expect(report).toMatchObject({ verdict: 'valid', records: { consents: 1, disclosed_values: 0 } });
  expect(report.warnings.first[0]?.message).toContain('receipt of one record');
  expect(text).not.toContain('Ann');
  expect(text.length).toBeLessThan(64 * 1024);
  await world.record(world.site, [{ visitorId: 'ann' }]);
  await world.stamp();
  await project();
  const again = await makeReceipt(options(), eventId, 'none');
  expect(JSON.stringify(again.kind === 'receipt' ? again.receipt : null)).toBe(text);
});

it('shows chosen values to the site', async () => {
  const made = await makeReceipt(options(), eventId, ['signer_name']);
  if (made.kind !== 'receipt') throw new Error(made.kind);
  const report = await check(Buffer.from(JSON.stringify(made.receipt)));
  expect(problemsOf(report)).toEqual([]);
  expect(report.records).toMatchObject({ disclosed_values: 1, withheld_values: 1 });
});

it('detects changed bytes', async () => {
  const bytes = Buffer.from(text);
  // Each check of a receipt verifies a time stamp: a prime stride visits every file.
  for (let at = 0; at < bytes.length; at += 97) {
    const changed = Uint8Array.from(bytes);
    changed[at] = (changed[at] ?? 0) ^ 1;
    const verdict = await check(changed).then(
      (report) => report.verdict,
      (error: unknown) => (error instanceof NotAPackage ? 'not a receipt' : 'crashed'),
    );
    expect(['invalid', 'not a receipt'], `byte ${at}: ${verdict}`).toContain(verdict);
  }
});

it('does not let a package pass as a receipt, or a receipt as a package', async () => {
  const { files } = JSON.parse(text);
  const zip = Object.entries(files).map(([name, content]) => ({
    name,
    content: Buffer.from(String(content), /\.(?:json|jws|ndjson|note)$/.test(name) ? 'utf8' : 'base64'),
    deflate: false,
  }));
  const report = await check(writeZip(zip));
  expect(problemsOf(report).join()).toContain('manifest.format');
  expect(report.verdict).toBe('invalid');
  const other = text.replace(`"${PACKAGE_FILES.entries}"`, `"${PACKAGE_FILES.entries.toUpperCase()}"`);
  expect((await check(Buffer.from(other))).verdict).toBe('invalid');
});
