import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { certificatesOfPem } from '../../../src/timestamping/authorities.js';
import { type DevelopmentTsa, startDevelopmentTsa } from '../../../src/timestamping/development-tsa/start.js';
import { isExhaustive, sampled } from '../../support/sweeps.js';
import { type Authority, type History, runHistory } from './history.js';

const SEEDS = [1, 2, 3, 4, 5, 6, 7, 8];

let folder: string;
let tsa: DevelopmentTsa;
let authority: Authority;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'simulation-'));
  tsa = await startDevelopmentTsa({ folder });
  authority = { url: tsa.url, trustAnchors: certificatesOfPem(await readFile(tsa.rootCertificatePemPath, 'utf8')) };
});
afterAll(async () => {
  await tsa.stop();
  await rm(folder, { recursive: true, force: true });
});

const lastOf = ({ trace }: History): string => trace.slice(-40).join('\n');

test('every history keeps the rules', { timeout: 60_000 + SEEDS.length * 30_000 }, async () => {
  for (const seed of sampled('histories on many sessions', SEEDS)) {
    const history = await runHistory(seed, authority);
    expect(history.problems, `seed ${seed}\n${lastOf(history)}`).toEqual([]);
  }
});

test.runIf(isExhaustive())('a seed gives the same history again', async () => {
  const [first, second] = [await runHistory(1, authority), await runHistory(1, authority)];
  expect(second.trace).toEqual(first.trace);
});
