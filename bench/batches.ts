import { BareInsert } from './bare-insert.js';
import type { BenchedService, RunFigures } from './benched-service.js';
import { describeRun, median, printRatio } from './report.js';

const BATCH = 100;
const REQUESTS = 150;
const CONNECTIONS = 8;
const GOAL = 0.4;
const CONSENTS = BATCH * REQUESTS;

const BATCHES = {
  path: '/tool/v1/consents/batch',
  requests: REQUESTS,
  batch: BATCH,
  connections: CONNECTIONS,
  expectedStatus: 202,
  hasPerson: true,
};

/**
 * Compares submission batches of 100 over HTTP with a bare multi-row insert of the same event
 * bodies on one connection.
 */
export async function benchBatches(service: BenchedService, databaseUrl: string, rounds: number): Promise<void> {
  await service.run(BATCHES);
  const bare = await BareInsert.open(databaseUrl, CONSENTS);
  try {
    await bare.run(BATCH);
    const inserts: number[] = [];
    const batches: RunFigures[] = [];
    for (let round = 0; round < rounds; round += 1) {
      if (round % 2 === 0) inserts.push(await bare.run(BATCH));
      batches.push(await service.run(BATCHES));
      if (round % 2 === 1) inserts.push(await bare.run(BATCH));
    }
    const ratios = batches.map((run, i) => (inserts[i] ?? Number.NaN) / run.ms);
    printRatio(`Batches of ${BATCH} against a bare multi-row insert of the same bytes by one connection`, GOAL, ratios);
    console.log(`  insert:  ${Math.round((CONSENTS / median(inserts)) * 1000)} rows/s`);
    console.log(`  consent: ${describeRun(batches, CONSENTS)}`);
    console.log(
      `  Durability of both sides of both comparisons that write: ${await bare.durability()}; admission sets`,
    );
    console.log('  synchronous_commit = on by itself. Rate-limit counters alone commit without waiting for the disk.');
  } finally {
    await bare.end();
  }
}
