import { spawnSync } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { PACKAGE_FILES } from '../../../schemas/evidence/package-lines.js';
import { exportEvidence } from '../../../src/evidence/package/index.js';
import { catchUpLedger } from '../../../src/pipeline/ledger/apply-ledger.js';
import { ledgerSignerOf } from '../../../src/pipeline/ledger/ledger-signer.js';
import { ensurePolicySet, readStampsDemanded } from '../../../src/pipeline/ledger/policy.js';
import { readNewestStamp } from '../../../src/pipeline/stamper/newest-stamp.js';
import { stampCheckpoint } from '../../../src/pipeline/stamper/stamp-checkpoint.js';
import { certificatesOfPem } from '../../../src/timestamping/authorities.js';
import { createTimestampClient } from '../../../src/timestamping/client.js';
import { type DevelopmentTsa, startDevelopmentTsa } from '../../../src/timestamping/development-tsa/start.js';
import { memorySource, verifyPackage } from '../../../verifier-cli/src/index.js';
import { titleNeeding } from '../../support/missing-tools.js';
import { UNGUARDED } from '../../support/unguarded.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from './ledger-world.js';
import { problemsOf, unpack } from './reading-packages.js';

const hasPython = spawnSync('python3', ['-c', 'import sys; sys.exit(sys.version_info < (3, 9))']).status === 0;
let world: LedgerWorld;
let authorities: DevelopmentTsa[];
let trustAnchors: Uint8Array[];
let path: string;

beforeAll(async () => {
  world = await openLedgerWorld();
  authorities = await Promise.all(
    ['First Authority', 'Second Authority'].map((organization) =>
      startDevelopmentTsa({ folder: join(world.folder, organization), organization }),
    ),
  );
  const roots = await Promise.all(
    authorities.map(({ rootCertificatePemPath }) => readFile(rootCertificatePemPath, 'utf8')),
  );
  trustAnchors = roots.flatMap(certificatesOfPem);
  await writeFile(join(world.folder, 'roots.pem'), roots.join(''));
  for (const visitorId of ['ann', 'ben']) {
    await world.record(world.site, [{ visitorId }]);
    await world.seal();
    await stampTwice();
  }
  path = join(world.folder, 'package.zip');
  const { pipeline, keyring, site } = world;
  const request = { siteId: site.siteId, filter: {}, disclose: 'all', output: path, exportedBy: 'test' } as const;
  await exportEvidence({ db: pipeline.worker, eventLog: pipeline.eventLog, keyring, origin: ORIGIN }, request);
});
afterAll(async () => {
  for (const authority of authorities) await authority.stop();
  await world.close();
});

async function stampTwice(): Promise<void> {
  const { worker: db, eventLog } = world.pipeline;
  const signer = ledgerSignerOf(await world.keyring.ledgerKey(), ORIGIN, UNGUARDED);
  const client = createTimestampClient({ authorities: authorities.map(({ url }) => url), trustAnchors });
  const previous = await readNewestStamp(db, trustAnchors, new Date());
  const options = { db, eventLog, signer, client, quorum: 2 };
  await stampCheckpoint(options, await catchUpLedger(db, eventLog), previous, new AbortController().signal);
}

async function verify(requireStamps: number, anchors = trustAnchors) {
  return verifyPackage(memorySource(new Uint8Array(await readFile(path))), {
    trustAnchors: anchors,
    ledgerKeys: [world.ledgerKey],
    maxDelay: 24 * 3_600_000,
    requireStamps,
    at: new Date(),
  });
}

it('encloses both time stamps of each checkpoint, which the verifier counts as two authorities', async () => {
  const report = await verify(2);
  expect(problemsOf(report)).toEqual([]);
  expect(report.verdict).toBe('valid');
  expect(report.stamps.first.map(({ organization }) => organization)).toEqual(
    Array.from({ length: report.stamps.count / 2 }, () => ['O=first authority', 'O=second authority']).flat(),
  );
  expect((await verify(3)).verdict).toBe('indeterminate');
  expect((await verify(2, trustAnchors.slice(0, 1))).verdict).toBe('indeterminate');
});

it('names both authorities in the README, whose commands check both time stamps', async () => {
  const files = await unpack(path);
  const readme = String(files.get(PACKAGE_FILES.readme));
  for (const { url } of authorities) expect(readme).toContain(` by ${new URL(url).host}`);
  const [size] = [...files.keys()].flatMap((name) => /^checkpoints\/(\d+)\.note$/.exec(name)?.[1] ?? []).slice(-1);
  for (const number of [1, 2]) expect(readme).toContain(`-in checkpoints/${size}.${number}.tsr -CAfile "$ROOT"`);
});

it.runIf(hasPython)(
  titleNeeding('Python 3.9', hasPython, 'passes the independent verifier by hand, which prints both times'),
  async () => {
    const { rows } = await world.pipeline.owner.query<{ event_id: string }>(
      `select event_id from leaves where stream = $1 order by revision limit 1`,
      [`consents-${world.site.siteId}`],
    );
    const { rows: keys } = await world.pipeline.owner.query<{ key: string }>('select key from ledger_keys');
    const keyFile = join(world.folder, 'ledger.key');
    await writeFile(keyFile, `${keys[0]?.key}\n`);
    const { stdout, stderr } = spawnSync(
      'python3',
      [
        'verifier-cli/by-hand/verify.py',
        path,
        rows[0]?.event_id ?? '',
        '--ledger-key',
        keyFile,
        '--tsa-ca',
        join(world.folder, 'roots.pem'),
      ],
      { encoding: 'utf8' },
    );
    expect(stderr).toBe('');
    expect(stdout.match(/^7\. it existed by /gm)).toHaveLength(2);
    expect(stdout).toContain('\nCONFIRMED\n');
  },
);

it('leaves nothing open after the quorum was lowered during an outage', async () => {
  const { worker: db, eventLog } = world.pipeline;
  const setStamps = (stamps: number) =>
    ensurePolicySet(db, eventLog, { sealWithinSeconds: 600, stampWithinSeconds: 3600, stamps }, () => new Date());
  /** Stamps the newest checkpoint, or the pending one, with the number of authorities that is demanded. */
  const stampWith = async (configured: number, ...urls: readonly string[]): Promise<void> => {
    const signer = ledgerSignerOf(await world.keyring.ledgerKey(), ORIGIN, UNGUARDED);
    const client = createTimestampClient({ authorities: urls, trustAnchors });
    const { authorities: quorum } = await readStampsDemanded(db, eventLog, configured);
    const previous = await readNewestStamp(db, trustAnchors, new Date());
    const options = { db, eventLog, signer, client, quorum };
    await stampCheckpoint(options, await catchUpLedger(db, eventLog), previous, new AbortController().signal);
  };
  const [one = '', two = ''] = authorities.map(({ url }) => url);
  await setStamps(2);
  await world.seal();
  await stampWith(2, one, two);
  // The second authority fails when the first has stamped.
  await world.record(world.site, [{ visitorId: 'during the outage' }]);
  await world.seal();
  await expect(stampWith(2, one)).rejects.toThrow();
  await setStamps(1);
  await world.record(world.site, [{ visitorId: 'after the change' }]);
  await world.seal();
  await expect(stampWith(1, one)).rejects.toThrow('has stamped this already');
  // It is back: it stamps the pending checkpoint, and the one with the new policy.
  await stampWith(1, one, two);
  await stampWith(1, one, two);
  await world.record(world.site, [{ visitorId: 'with one authority' }]);
  await world.seal();
  await stampWith(1, one);
  const { rows } = await world.pipeline.owner.query('select tokens from checkpoints order by size desc limit 3');
  expect(rows.map(({ tokens }) => tokens)).toEqual([1, 2, 2]);
  const { keyring, site } = world;
  const request = { siteId: site.siteId, filter: {}, disclose: 'all', exportedBy: 'test' } as const;
  const options = { db, eventLog, keyring, origin: ORIGIN };
  await exportEvidence(options, { ...request, output: path, overwrites: true });
  const report = await verify(1);
  expect(problemsOf(report)).toEqual([]);
  expect(report.verdict).toBe('valid');
  expect(report.newest).toMatchObject({ authorities: 1, authorities_demanded: 1, witnesses_demanded: 0 });
  expect((await verify(1, trustAnchors.slice(0, 1))).verdict).toBe('indeterminate');
});
