import { appendFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type DevelopmentTsa, startDevelopmentTsa } from '../../../src/timestamping/development-tsa/start.js';
import { certificatesOfPem } from '../../../src/timestamping/pem.js';
import { type Authority, type History, runHistory } from './history.js';

/** `npm run simulate` sets them. */
const FIRST_SEED = Number(process.env.SIMULATE_SEED ?? '1');
const HISTORIES = Number(process.env.SIMULATE_HISTORIES ?? '2');
/** File that gets one byte for each history. */
const { SIMULATE_DONE: DONE } = process.env;

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

test('every history keeps the rules', { timeout: 60_000 + HISTORIES * 30_000 }, async () => {
  for (let seed = FIRST_SEED; seed < FIRST_SEED + HISTORIES; seed += 1) {
    const history = await runHistory(seed, authority);
    const again = `npm run simulate -- --seed ${seed} --histories 1\n${lastOf(history)}`;
    expect(history.problems, again).toEqual([]);
    if (DONE !== undefined) await appendFile(DONE, '.');
  }
});

test('a seed gives the same history again', { timeout: 120_000 }, async () => {
  const [first, second] = [await runHistory(FIRST_SEED, authority), await runHistory(FIRST_SEED, authority)];
  expect(second.trace).toEqual(first.trace);
});
