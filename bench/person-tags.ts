import { randomBytes, randomUUID } from 'node:crypto';
import { streamsRoot, tiledRuns } from '../schemas/evidence/batch-header.js';
import { namedRuns, runsOf, sortedLeaves, sortedTags, tagsRoot } from '../src/pipeline/ledger/batch-rules.js';
import type { SealedLeaf } from '../src/pipeline/ledger/ledger-state.js';
import { SALT_KEY_BYTES, streamKeysUnder } from '../src/pipeline/ledger/stream-keys.js';
import { batchRoot } from '../src/pipeline/sealer/seal.js';
import type { BenchedService, RunFigures } from './benched-service.js';
import { describeRun, median } from './report.js';
import { SINGLE } from './singles.js';

const GOAL = 0.1;
const LEAVES = 4_096;
const SITES = 64;
const BATCHES = 60;

/**
 * Compares single consents of new persons with the same consents without a person. The difference is
 * more than that of the tags: a person also has an encrypted value, a blind index and a row.
 */
export async function benchPersons(service: BenchedService, rounds: number): Promise<void> {
  const anonymous = { ...SINGLE, hasPerson: false };
  await service.run(SINGLE);
  await service.run(anonymous);
  const withPerson: RunFigures[] = [];
  const without: RunFigures[] = [];
  for (let round = 0; round < rounds; round += 1) {
    const order = round % 2 === 0 ? [SINGLE, anonymous] : [anonymous, SINGLE];
    for (const job of order) (job === SINGLE ? withPerson : without).push(await service.run(job));
  }
  const cpu = (run: RunFigures): number => run.serviceCpuMs + (run.postgresCpuMs ?? 0);
  const parts = withPerson.map((run, i) => 1 - cpu(without[i] ?? run) / cpu(run));
  const part = median(parts);
  console.log(
    `Persons: ${(part * 100).toFixed(0)} % of the processor time of a single consent (goal for the tags alone ${GOAL * 100} %, ` +
      `${part <= GOAL ? 'met' : 'not shown'})`,
  );
  console.log(`  new person:     ${describeRun(withPerson, SINGLE.requests)}`);
  console.log(`  without person: ${describeRun(without, SINGLE.requests)}`);
}

/** Measures, as a part alone, what the tags cost among the trees of a Merkle batch. */
export function benchTagsOfBatch(): void {
  const leaves = newLeaves();
  const keyOf = streamKeysUnder(randomBytes(SALT_KEY_BYTES));
  const total = cpuMicros(() => {
    const sorted = sortedLeaves(leaves, keyOf);
    batchRoot(sorted.map(({ hash }) => hash));
    streamsRoot(tiledRuns(namedRuns(runsOf(sorted)), keyOf));
    tagsRoot(sortedTags(sorted.flatMap(({ tag }) => tag ?? [])));
  });
  const tags = cpuMicros(() => {
    tagsRoot(sortedTags(leaves.flatMap(({ tag }) => tag ?? [])));
  });
  console.log(
    `Tags of a Merkle batch of ${LEAVES} records, measured alone: ${(tags / LEAVES).toFixed(1)} µs of processor time a record, ` +
      `of ${(total / LEAVES).toFixed(1)} µs for all trees of the batch`,
  );
}

function newLeaves(): SealedLeaf[] {
  const streams = Array.from({ length: SITES }, () => `consents-${randomUUID()}`);
  return Array.from({ length: LEAVES }, (_, i) => ({
    stream: streams[i % SITES] ?? '',
    revision: Math.floor(i / SITES),
    eventId: randomUUID(),
    hash: randomBytes(32),
    tag: randomBytes(32),
  }));
}

/** Processor time of one call, of many, in microseconds. */
function cpuMicros(work: () => void): number {
  for (let i = 0; i < BATCHES / 4; i += 1) work();
  const before = process.cpuUsage();
  for (let i = 0; i < BATCHES; i += 1) work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / BATCHES;
}
