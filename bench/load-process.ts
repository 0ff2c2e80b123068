import { cookieConsent, signedRequestBytes } from './consents.js';
import { sendAll } from './load-client.js';
import { LoadJob, type LoadResult } from './messages.js';

// The load generator in a separate process. It creates and signs all requests of a job, reports
// "ready", and sends them on command.
let pending: { readonly job: LoadJob; readonly requests: readonly Buffer[] } | null = null;

process.on('message', (message) => {
  if (message === 'go') void run();
  else prepare(LoadJob.parse(message));
});

function prepare(job: LoadJob): void {
  const consent = () => cookieConsent(job.documentVersionId, job.hasPerson);
  const requests = Array.from({ length: job.requests }, () =>
    signedRequestBytes(
      job.port,
      job.path,
      job.apiKey,
      job.batch === 0 ? consent() : { consents: Array.from({ length: job.batch }, consent) },
    ),
  );
  pending = { job, requests };
  process.send?.('ready');
}

async function run(): Promise<void> {
  if (pending === null) throw new Error('told to go without a job');
  const { job, requests } = pending;
  const before = process.cpuUsage();
  const ms = await sendAll(job.port, requests, job.connections, job.expectedStatus);
  const { user, system } = process.cpuUsage(before);
  process.send?.({ ms, cpuMs: (user + system) / 1000 } satisfies LoadResult);
}
