import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { formatVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { eraseSubject, openErasureJournal } from '../../../src/erasure/index.js';
import { exportEvidence } from '../../../src/evidence/package/index.js';
import { hasProgram } from '../../support/has-program.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from './ledger-world.js';
import { unpack } from './reading-packages.js';

const PROGRAMS = ['unzip', 'bash', 'sed', 'sha256sum', 'base64', 'od', 'openssl'];
const missing: string[] = [];
for (const program of PROGRAMS) if (!(await hasProgram(program))) missing.push(program);

const run = promisify(execFile);
let world: LedgerWorld;

beforeAll(async () => {
  world = await openLedgerWorld();
});
afterAll(() => world.close());

/** The commands of a README, in order. */
function commandsOf(readme: string): string {
  return readme
    .split('\n')
    .filter((line) => line.startsWith('    '))
    .map((line) => line.slice(4))
    .join('\n');
}

// Skipped if a program is missing; the test's name then lists it.
it.skipIf(missing.length > 0)(
  `follows README.txt with ${missing.length > 0 ? `programs that are missing here: ${missing}` : PROGRAMS.join(', ')}`,
  async () => {
    const { pipeline, keyring, site, folder, tsaRootPath, ledgerKey } = world;
    const keyPath = join(folder, 'ledger.key');
    await writeFile(keyPath, `# of the ledger\n${formatVerifierKey(ledgerKey.name, ledgerKey.publicKey)}\n`);
    const consents = Array.from({ length: 21 }, (_, n) => ({
      visitorId: `visitor "${n}" \\ ${n}`,
      signature: Buffer.from(`drawn by ${n}`),
    }));
    await world.record(site, consents.slice(0, 10));
    await world.stamp(6);
    await world.record(site, consents.slice(10));
    const journal = openErasureJournal(join(folder, 'erasures.ndjson'));
    const value = 'visitor "3" \\ 3';
    await eraseSubject(
      { db: pipeline.worker, keyring, journal },
      { siteId: site.siteId, by: { kind: 'visitor', value } },
    );
    await world.stamp(6);
    const ids = await pipeline.owner.query(`select event_id from record_keys where site_id = $1`, [site.siteId]);

    const filters = [{}, { eventIds: [String(ids.rows[7]?.event_id)] }, { eventIds: [String(ids.rows[15]?.event_id)] }];
    for (const [n, filter] of filters.entries()) {
      const output = join(folder, `by-hand-${n}.zip`);
      await exportEvidence(
        { db: pipeline.newPool('consent_ledger_api'), eventLog: pipeline.eventLog, keyring, origin: ORIGIN },
        { siteId: site.siteId, filter, disclose: 'all', output, exportedBy: 'test' },
      );
      const readme = String((await unpack(output)).get('README.txt'));
      expect(readme).toContain('DEVELOPMENT');
      const place = join(folder, `by-hand-${n}`);
      await mkdir(place);
      await run('unzip', ['-t', output]);
      await run('unzip', ['-q', output, '-d', place]);
      const script = `set -euo pipefail\n${commandsOf(readme)}`;
      const env = { ...process.env, ROOT: tsaRootPath, LEDGER_KEY: keyPath, TMPDIR: folder };
      const { stdout } = await run('bash', ['-c', script], { cwd: place, env });
      expect(stdout).toContain('Signature Verified Successfully');
      expect(stdout).toMatch(/the ledger's key has signed checkpoint \d+/);
      expect(stdout).toContain('entries.ndjson: OK');
      expect(stdout).not.toContain('FAILED');
      expect(stdout).toContain('Time stamp:');
      expect(stdout).toContain('the record is in the batch');
      expect(stdout).toContain('the batch is in the stamped ledger');

      // After the alteration of one word of the record, the commands fail.
      await run('sed', ['-i', 's/accepted/rejected/', join(place, 'entries.ndjson')]);
      await expect(run('bash', ['-c', script], { cwd: place, env })).rejects.toThrow();
    }
  },
);
