import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createTimestampClient } from '../../src/timestamping/client.js';
import { type DevelopmentTsa, startDevelopmentTsa } from '../../src/timestamping/development-tsa/start.js';

describe('client with the development authority', () => {
  let folder: string;
  let tsa: DevelopmentTsa;
  let root: Uint8Array;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-tsa-'));
    tsa = await startDevelopmentTsa({ folder });
    root = new X509Certificate(await readFile(tsa.rootCertificatePemPath)).raw;
  });
  afterAll(async () => {
    await tsa.stop();
    await rm(folder, { recursive: true });
  });

  it.each(['sha256', 'sha384', 'sha512'] as const)('obtains a token by %s that passes every check', async (hash) => {
    const client = createTimestampClient({ authorities: [tsa.url], trustAnchors: [root], hash });
    const stamp = await client.stamp(new TextEncoder().encode('a checkpoint'));
    expect(stamp.report.checks.filter(({ outcome }) => outcome === 'fail' || outcome === 'indeterminate')).toEqual([]);
    expect(stamp.report.outcome).toBe('pass');
    expect(stamp.report.revocation).toBe('conclusive');
    expect(stamp.gatheringProblems).toEqual([]);
    expect(stamp.crls).toHaveLength(1);
    expect(stamp.certificates).toHaveLength(2);
    expect(stamp.report.signer?.subject).toContain('DEVELOPMENT ONLY – NOT EVIDENCE');
  });

  it('stamps empty data', async () => {
    const client = createTimestampClient({ authorities: [tsa.url], trustAnchors: [root] });
    const { report } = await client.stamp(new Uint8Array(0));
    expect(report.outcome).toBe('pass');
  });
});
