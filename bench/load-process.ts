import { cookieConsent, peerRequestBytes, signedRequestBytes } from './consents.js';
import { latenciesOf } from './latencies.js';
import { sendAll } from './load-client.js';
import { LoadJob, type LoadResult, type SignedJob } from './messages.js';

// The load generator in a separate process. It creates and signs all requests of a job, reports
// "ready", and sends them on command.
let pending: { readonly job: LoadJob; readonly requests: readonly Buffer[] } | null = null;

process.on('message', (message) => {
  if (message === 'go') void run();
  else prepare(LoadJob.parse(message));
});

function prepare(job: LoadJob): void {
  const request = job.kind === 'peer' ? () => peerRequestBytes(job.port) : () => signedRequest(job);
  pending = { job, requests: Array.from({ length: job.requests }, request) };
  process.send?.('ready');
}

function signedRequest({ port, path, apiKey, documentVersionId, batch, hasPerson }: SignedJob): Buffer {
  const consent = () => cookieConsent(documentVersionId, hasPerson);
  return signedRequestBytes(
    port,
    path,
    apiKey,
    batch === 0 ? consent() : { consents: Array.from({ length: batch }, consent) },
  );
}

async function run(): Promise<void> {
  if (pending === null) throw new Error('told to go without a job');
  const { job, requests } = pending;
  const before = process.cpuUsage();
  const { ms, each } = await sendAll(job.port, requests, job.connections, job.expectedStatus);
  const { user, system } = process.cpuUsage(before);
  process.send?.({ ms, cpuMs: (user + system) / 1000, latency: latenciesOf(each) } satisfies LoadResult);
}
