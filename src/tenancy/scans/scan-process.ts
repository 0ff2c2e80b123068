import { setPriority } from 'node:os';
import { createReach } from '../../platform/net/reach.js';
import { asksStun } from './prove-browser.js';
import { targetAt } from './scan-target.js';
import { Faults, PROOF_MS, type ScanAnswer, ScanFailed, ScanJob } from './visit.js';
import { visitByBrowser } from './visit-by-browser.js';
import { visitByHttp } from './visit-by-http.js';

// The process of one visit (visit-in-process.ts): a line with the job on its standard input, a line with the answer on
// its standard output. Then it waits to be killed, with its browser. It has no key, no database and no environment of
// the service, so a page that takes it over finds nothing.
const PRIORITY = 10;

const faults = new Faults();
// Other tenants' requests come first. The browser inherits this priority.
setPriority(PRIORITY);
process.on('uncaughtException', (error) => answer({ kind: 'broken', at: placeOf(error), faults: faults.count }));

let line = '';
process.stdin.setEncoding('utf8').on('data', (text: string) => {
  if (line.endsWith('\n')) return;
  line += text;
  if (line.endsWith('\n')) void work(line);
});
// The parent is gone, so nobody else would kill this process and its browser.
for (const event of ['end', 'error'] as const) process.stdin.on(event, endGroup);
process.stdout.on('error', endGroup);

function endGroup(): void {
  process.kill(-process.pid, 'SIGKILL');
}

async function work(text: string): Promise<void> {
  try {
    answer(await resultOf(ScanJob.parse(JSON.parse(text))));
  } catch (error) {
    if (error instanceof ScanFailed)
      answer({ kind: 'failed', message: error.message.slice(0, 2_000), faults: faults.count });
    else answer({ kind: 'broken', at: placeOf(error), faults: faults.count });
  }
}

async function resultOf(job: ScanJob): Promise<ScanAnswer> {
  // The parent will kill this process.
  const never = new AbortController().signal;
  if (job.kind === 'stun') {
    const isPacket = await asksStun(job.chromePath, job.isGuarded, faults, AbortSignal.timeout(PROOF_MS));
    return { kind: 'asked', isPacket, faults: faults.count };
  }
  const { url, proved, visitor, chromePath, allowedNetworks, userAgent } = job;
  const reach = createReach(allowedNetworks);
  const visitPage = chromePath === null ? visitByHttp(reach, userAgent) : visitByBrowser(chromePath, reach, faults);
  const visit = await visitPage(targetAt(new URL(url), proved), visitor, never);
  return { kind: 'visited', visit, faults: faults.count };
}

function answer(message: ScanAnswer): void {
  process.stdout.write(`${JSON.stringify(message)}\n`);
}

/** Returns the name of an error and where it was thrown. */
function placeOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no error';
  const frames = (error.stack ?? '').split('\n').filter((frame) => /^ {4}at /.test(frame));
  return [error.name, ...frames].join('\n').slice(0, 2_000);
}
