import { describe, expect, test } from 'vitest';
import { sha256 } from '../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../schemas/crypto/encoding.js';
import { checkpointText } from '../../schemas/evidence/checkpoint.js';
import type { Manifest } from '../../schemas/evidence/manifest.js';
import { PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import { WORK_LIMIT } from '../../schemas/rfc3161/work.js';
import { NO_BATCHES } from '../../verifier-cli/src/batches/batches.js';
import { TagCache } from '../../verifier-cli/src/batches/tags.js';
import { NO_TAIL } from '../../verifier-cli/src/completeness/coverage.js';
import { Erasures } from '../../verifier-cli/src/entries/erasures.js';
import { PackageFiles } from '../../verifier-cli/src/files/package-files.js';
import { Findings } from '../../verifier-cli/src/findings/findings.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import { htmlPage, memorySource, reportPage, terminalReport } from '../../verifier-cli/src/index.js';
import { verifyAbsence } from '../../verifier-cli/src/records/absence.js';
import { ConsentTable } from '../../verifier-cli/src/records/consent-table.js';
import { reportExceeded, WorkMeter } from '../../verifier-cli/src/work/work-meter.js';
import { CA_EXTENSIONS, makeCertificate } from '../rfc3161/support/certificates.js';
import { timeText } from '../rfc3161/support/der.js';
import { makeCrl } from '../rfc3161/support/revocation.js';
import { makeResponse, makeToken } from '../rfc3161/support/tokens.js';
import { fixtureAuthority, LEDGER_KEY, ORIGIN, stampTime } from '../support/ledger-fixture.js';
import { fixtureUuid, minute } from '../support/ledger-fixture-events.js';
import { buildPackage, type Files, type PackageHooks } from '../support/package-builder.js';
import { signedNote } from '../support/signing-key.js';
import { notPassed, verifyFixture } from './support.js';

const authority = fixtureAuthority();
const honest = buildPackage(authority);

/** Adds files before the manifest is signed. */
const adding = (fill: (files: Files) => void): PackageHooks => ({ files: fill });

/** Further checkpoints, each with a genuine stamp of its own. */
function addStamps(files: Files, count: number): void {
  for (let size = 100; size < 100 + count; size += 1) {
    const text = checkpointText({ origin: ORIGIN, size, root: new Uint8Array(32) });
    const note = utf8(signedNote(text, LEDGER_KEY));
    const token = makeToken(authority.tsa, { data: note, genTime: timeText(stampTime(5)) });
    files.set(PACKAGE_FILES.note(size), note);
    files.set(PACKAGE_FILES.response(size, 1), makeResponse(token));
  }
}

/** Packages that cost much for their size. */
const HOSTILE: Readonly<Record<string, PackageHooks>> = {
  'large revocation lists for many stamps': adding((files) => {
    addStamps(files, 40);
    for (let n = 0; n < 6; n += 1) {
      const revoked = Array.from({ length: 4000 }, (_, i) => ({ serial: BigInt(i + 70_000), at: minute(-60) }));
      const crl = makeCrl(authority.root, { thisUpdate: minute(100 + n), nextUpdate: minute(2000), revoked });
      files.set(PACKAGE_FILES.crl(toHex(sha256(crl))), crl);
    }
  }),
  'many issuers of one name for many stamps': adding((files) => {
    addStamps(files, 40);
    for (let n = 0; n < 60; n += 1) {
      const signer = authority.newSigner();
      const { der } = makeCertificate({ name: 'Fixture Root', signer, extensions: CA_EXTENSIONS });
      files.set(PACKAGE_FILES.certificate(toHex(sha256(der))), der);
    }
  }),
};

test('the report states the work and the limit', async () => {
  const report = await verifyFixture(authority, honest);
  expect(report.verdict).toBe('valid');
  const limit = WORK_LIMIT.fixed + WORK_LIMIT.perByte * honest.length;
  expect(report.work).toEqual({ done: expect.any(Number), limit });
  expect(terminalReport(report, en, true)).toContain(`work          ${report.work.done} units of at most ${limit}`);
  expect(htmlPage('Report', 'en', reportPage(report, en))).toContain(`${report.work.done} units of at most ${limit}`);
});

test('the same package always costs the same work, a small part of the limit', async () => {
  const [one, other] = [await verifyFixture(authority, honest), await verifyFixture(authority, honest)];
  expect(one.work).toEqual(other.work);
  expect(one.work.done / one.work.limit).toBeLessThan(0.01);
});

test('a package within its limit is valid, and one that costs a unit more fails', async () => {
  const { done } = (await verifyFixture(authority, honest)).work;
  const within = await verifyFixture(authority, honest, { maxWork: done });
  expect(within).toMatchObject({ verdict: 'valid', work: { done, limit: done } });
  const beyond = await verifyFixture(authority, honest, { maxWork: done - 1 });
  expect(beyond).toMatchObject({ verdict: 'invalid', work: { done: done - 1, limit: done - 1 } });
  expect(notPassed(beyond)).toMatchObject({ 'container.limits': 'fail' });
});

test('many honest stamps cost a small part of the limit', async () => {
  const { work } = await verifyFixture(
    authority,
    buildPackage(
      authority,
      adding((files) => addStamps(files, 150)),
    ),
  );
  expect(work.done / work.limit).toBeLessThan(0.1);
});

test('a larger limit than that of the format is not accepted', async () => {
  const report = await verifyFixture(authority, honest, { maxWork: Number.MAX_SAFE_INTEGER });
  expect(report.work.limit).toBe(WORK_LIMIT.fixed + WORK_LIMIT.perByte * honest.length);
});

describe.each(Object.entries(HOSTILE))('%s', (_, hooks) => {
  const zip = buildPackage(authority, hooks);

  test('cost many units for each byte', async () => {
    const { work } = await verifyFixture(authority, zip);
    expect(work.done / zip.length).toBeGreaterThan(300);
  });

  test('end at the limit, and are named', async () => {
    const report = await verifyFixture(authority, zip, { maxWork: 20_000_000 });
    expect(report.verdict).toBe('invalid');
    const check = report.checks.find(({ id }) => id === 'container.limits');
    expect(check).toMatchObject({
      outcome: 'fail',
      counts: { fail: 1 },
      message: 'the package would cost more than its limit of 20000000 units of work',
    });
  });
});

test('the search for erasures ends, however large a checkpoint is signed', async () => {
  const findings = new Findings();
  const work = new WorkMeter(0, reportExceeded(findings));
  const files = new PackageFiles(memorySource(new Uint8Array()), new Map(), findings, () => undefined, work);
  const consents = new ConsentTable();
  addFarConsent(consents, 2 ** 50);
  const manifest = readableManifest();
  const size = 2 ** 52;
  const absence = await verifyAbsence(consents, new Erasures(findings), new TagCache(files, NO_BATCHES), {
    manifest,
    size,
    work,
    tail: NO_TAIL,
  });
  expect(absence.kind).toBe('shown');
  expect(findings.outcomeOf('container.limits')).toBe('fail');
});

/** Adds a consent that claims to be in a batch that the package does not have. */
function addFarConsent(consents: ConsentTable, batch: number): void {
  const hashes = { previous: null, proof_hash: null, person_tag: null };
  const entry = {
    ...hashes,
    stream: 'consents-x',
    revision: 0,
    event_id: fixtureUuid('far'),
    type: 'ConsentRecorded.v1',
    record: {},
  };
  const source = { batch, index: 0, disclosures: [] };
  consents.add(
    { line: 1, entry, source, findings: { verdict: 'valid' } },
    {
      ...{
        createdAt: 0,
        validForMs: null,
        periods: null,
        lacksToken: false,
        isImported: false,
        decidedAt: 0,
        version: -1,
        configuration: -1,
      },
      matches: true,
      isLacking: false,
    },
  );
}

/** The manifest of a package for one event id. */
function readableManifest(): Manifest {
  return {
    format: 'consent-ledger-evidence',
    version: '1.0',
    origin: ORIGIN,
    checkpoint: 2 ** 52,
    exported_at: minute(0).toISOString(),
    exported_by: 'a',
    development: false,
    filter: {
      site_id: fixtureUuid('site'),
      from: null,
      to: null,
      consent_type: null,
      document_version_id: null,
      event_ids: [fixtureUuid('far')],
      person: null,
      disclose: 'all',
    },
    salt: '0'.repeat(64),
    counts: { entries: 0, consents: 0, erased: 0, key_lost: 0, attachments: 0, not_yet_stamped: 0 },
    complete: [],
    files: {},
  };
}
