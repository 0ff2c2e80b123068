import type { BenchedService, RunFigures } from './benched-service.js';
import { describeRun, printRatio } from './report.js';

const REQUESTS = 12_000;
const CONNECTIONS = 128;
const GOAL = 0.45;

export const ECHO = {
  path: '/tool/v1/echo',
  requests: REQUESTS,
  batch: 0,
  connections: CONNECTIONS,
  expectedStatus: 200,
  hasPerson: true,
};
export const SINGLE = { ...ECHO, path: '/tool/v1/consents', expectedStatus: 202 };

/**
 * Compares single signed consents with a route of the same process that only checks the signature
 * and echoes the body.
 */
export async function benchSingles(service: BenchedService, rounds: number): Promise<void> {
  await service.run(ECHO);
  await service.run(SINGLE);
  const echoes: RunFigures[] = [];
  const consents: RunFigures[] = [];
  for (let round = 0; round < rounds; round += 1) {
    // The order alternates, so that neither route always runs on the state that the other left.
    const order = round % 2 === 0 ? [ECHO, SINGLE] : [SINGLE, ECHO];
    for (const job of order) (job === ECHO ? echoes : consents).push(await service.run(job));
  }
  const ratios = consents.map((run, i) => (echoes[i]?.ms ?? Number.NaN) / run.ms);
  printRatio('Single signed POST /tool/v1/consents against an echo that checks the same signature', GOAL, ratios);
  console.log(`  echo:    ${describeRun(echoes, REQUESTS)}`);
  console.log(`  consent: ${describeRun(consents, REQUESTS)}`);
  console.log(
    `  ${REQUESTS} requests a round over ${CONNECTIONS} connections; key, rate limit, nonce, idempotency, quota, key row, outbox.`,
  );
}
