import { randomUUID } from 'node:crypto';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { BatchHeader } from '../../../schemas/evidence/batch-header.js';
import { Manifest } from '../../../schemas/evidence/manifest.js';
import { BatchLine, EntryLine, PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import type { Receipt } from '../../../schemas/evidence/receipt.js';
import { formatVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { Disclose } from '../../../src/evidence/package/filter.js';
import { type ExportOptions, makeReceipt } from '../../../src/evidence/package/index.js';
import { ensurePolicySet } from '../../../src/pipeline/ledger/policy.js';
import { memorySource, NotAPackage, type VerificationReport, verifyPackage } from '../../../verifier-cli/src/index.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { hasOpenssl } from '../../support/openssl-tsa.js';
import { writeZip } from '../../support/zip-writer.js';
import { hasPython, verifyByHand } from '../../verifier/by-hand.js';
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
    { visitorId: 'ann', fields: { signer_name: 'Ann Baker' } },
    { visitorId: 'ben' },
  ]);
  await project();
  text = '';
});
afterAll(() => world.close());

/** Stands in for the projector: rows of the read model from the stored events. */
async function project(): Promise<void> {
  await world.pipeline.owner.query(`
    create schema if not exists read_model;
    create table if not exists read_model.consents (event_id uuid, site_id uuid, revision bigint);
    delete from read_model.consents;
    insert into read_model.consents (event_id, site_id, revision)
      select id, site_id, revision from event_log.stored_events where stream like 'consents-%';
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
  expect(text).not.toContain('Ann Baker');
  expect(text.length).toBeLessThan(29 * 1024);
  const folders = Object.keys(made.receipt.files).map((name) => name.split('/')[0]);
  expect(text).not.toContain('checkpoints/certificates/');
  // The text consented to; the configuration is in its entry.
  expect(folders.filter((folder) => folder === 'notices')).toHaveLength(1);
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

it('opens the person tag where it names the person, and agrees with a package for the person', async () => {
  const lines = await Promise.all(
    [['visitor_id'], 'all', ['signer_name'], 'none'].map(async (disclose) => {
      const made = await makeReceipt(options(), eventId, Disclose.parse(disclose));
      if (made.kind !== 'receipt') throw new Error(made.kind);
      const report = await check(Buffer.from(JSON.stringify(made.receipt)));
      expect(problemsOf(report)).toEqual([]);
      const [line = ''] = (made.receipt.files[PACKAGE_FILES.entries] ?? '').split('\n');
      return EntryLine.parse(JSON.parse(line));
    }),
  );
  const [named, all, ...others] = lines.map(({ person }) => person);
  expect(named).toEqual({ id: expect.stringMatching(/^[0-9a-f]{64}$/), n: 1 });
  expect(all).toEqual(named);
  expect(others).toEqual([undefined, undefined]);
  // Ann's second record was sealed above.
  const { rows } = await world.pipeline.owner.query(
    'select event_id from read_model.consents where site_id = $1 order by revision',
    [world.site.siteId],
  );
  const last = String(rows.at(-1)?.event_id);
  const second = await makeReceipt(options(), last, ['visitor_id']);
  if (second.kind !== 'receipt') throw new Error(second.kind);
  const [line = ''] = (second.receipt.files[PACKAGE_FILES.entries] ?? '').split('\n');
  expect(EntryLine.parse(JSON.parse(line)).person).toEqual({ ...named, n: 2 });
});

it.runIf(hasPython && hasOpenssl)(
  titleNeeding('Python 3.9 or openssl', hasPython && hasOpenssl, 'is confirmed by the verifier by hand'),
  async () => {
    const path = (name: string) => join(world.folder, name);
    const { name, publicKey } = world.ledgerKey;
    const pem = Buffer.from(world.tsaRoot).toString('base64');
    await writeFile(path('root.pem'), `-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n`);
    await writeFile(path('ledger.key'), formatVerifierKey(name, publicKey));
    const made = await makeReceipt(options(), eventId, ['signer_name']);
    if (made.kind !== 'receipt') throw new Error(made.kind);
    const disclosing = JSON.stringify(made.receipt);
    const swapped = text.replace(/"created_at/, '"created_bt');
    for (const [content, status] of [
      [text, 0],
      [`${text}\n`, 0],
      [disclosing, 0],
      // No ZIP, and no receipt, which begins with its brace.
      [` ${text}`, 2],
      [swapped, 1],
    ] as const) {
      await writeFile(path('receipt.json'), content);
      const run = verifyByHand([path('receipt.json')], new Date(), path('ledger.key'), path('root.pem'));
      expect(run).toMatchObject({ status, stderr: '' });
    }
  },
);

it('shows the newest policy by the header of the last batch below its checkpoint', async () => {
  const { worker: db, eventLog } = world.pipeline;
  const setPolicy = (sealWithinSeconds: number): Promise<number> =>
    ensurePolicySet(db, eventLog, { sealWithinSeconds, stampWithinSeconds: 3600 }, () => new Date());
  await setPolicy(600);
  const [own = ''] = await world.record(world.site, [{ visitorId: 'eve' }]);
  await world.seal();
  await setPolicy(300);
  await world.stamp();
  await project();
  const made = await makeReceipt(options(), own, 'none');
  if (made.kind !== 'receipt') throw new Error(made.kind);
  const report = await check(Buffer.from(JSON.stringify(made.receipt)));
  expect(problemsOf(report)).toEqual([]);
  expect(report.checks.find(({ id }) => id === 'completeness.policies')?.outcome).toBe('pass');
  const lines = linesOf(made.receipt, PACKAGE_FILES.batches).map((line) => BatchLine.parse(JSON.parse(line)));
  const headers = lines.map(({ header }) => BatchHeader.parse(JSON.parse(header)));
  const { checkpoint } = Manifest.parse(JSON.parse(made.receipt.files[PACKAGE_FILES.manifest] ?? ''));
  expect(headers.at(-1)).toMatchObject({ number: (checkpoint ?? 0) - 1, policies: 2 });
  expect(linesOf(made.receipt, PACKAGE_FILES.entries).filter((line) => line.includes('LedgerPolicySet'))).toHaveLength(
    2,
  );
});

function linesOf({ files }: Receipt, name: string): readonly string[] {
  return (files[name] ?? '').split('\n').slice(0, -1);
}

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

it('neither names nor opens the person of an erased record', async () => {
  await world.pipeline.owner.query('delete from record_keys where event_id = $1', [eventId]);
  const made = await makeReceipt(options(), eventId, 'all');
  if (made.kind !== 'receipt') throw new Error(made.kind);
  const [line = ''] = (made.receipt.files[PACKAGE_FILES.entries] ?? '').split('\n');
  expect(EntryLine.parse(JSON.parse(line))).toMatchObject({ disclosures: [] });
  expect(line).not.toContain('"person":');
});
