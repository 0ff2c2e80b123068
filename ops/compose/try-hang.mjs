// Stops the worker process of `serve` in the container that this runs in. Prints, as one line of JSON, after how many
// milliseconds /readyz showed it, another worker process ran, and the service was ready again.
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';

const LONGEST_MS = 120_000;

function workers() {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes('worker-process.js');
      } catch {
        return false;
      }
    })
    .map(Number);
}

async function readiness() {
  try {
    return await (await fetch(`http://localhost:${process.env.PORT}/readyz`)).text();
  } catch (error) {
    return error.message;
  }
}

const [worker] = workers();
const seen = {};
const stoppedAt = performance.now();
const note = (what) => {
  seen[what] ??= Math.round(performance.now() - stoppedAt);
};
process.kill(worker, 'SIGSTOP');
while (seen.readyMs === undefined && performance.now() - stoppedAt < LONGEST_MS) {
  const answer = await readiness();
  if (answer.includes('worker_hung')) note('shownMs');
  if (workers().some((pid) => pid !== worker)) note('replacedMs');
  if (seen.replacedMs !== undefined && answer.includes('"status":"ready"')) note('readyMs');
  await sleep(100);
}
console.log(JSON.stringify(seen));
process.exit(seen.readyMs === undefined ? 1 : 0);
