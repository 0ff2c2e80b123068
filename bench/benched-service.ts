import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { EmbeddedPostgres } from '../src/platform/database/embedded/index.js';
import type { SiteFixture } from '../test/pipeline/admission/site-fixture.js';
import { nextMessage, ServiceUsage, type SignedJob } from './messages.js';
import { postgresCpuMs, postmasterPid } from './processor-time.js';
import { RequestLoad } from './request-load.js';

/**
 * Processor milliseconds of one run by process, and the utilization of the service's main thread (0
 * to 1).
 */
export interface RunFigures {
  readonly ms: number;
  readonly serviceCpuMs: number;
  readonly eventLoopUtilization: number;
  readonly postgresCpuMs: number | null;
  readonly generatorCpuMs: number;
}

export interface BenchedService {
  /** Sends a job's requests through the load generator. */
  run(job: Omit<SignedJob, 'kind' | 'port' | 'apiKey' | 'documentVersionId'>): Promise<RunFigures>;
  stop(): Promise<void>;
}

/**
 * Starts the service and the load generator in separate processes.
 * @param masterKey of the database: rows of the site are sealed under it
 */
export async function startBenchedService(
  postgres: EmbeddedPostgres,
  masterKey: Uint8Array,
  site: SiteFixture,
): Promise<BenchedService> {
  const settings = {
    databaseUrl: postgres.superuserUrl,
    masterKey: Buffer.from(masterKey).toString('base64'),
    writeKey: site.writeKey,
  };
  const service = fork(fileURLToPath(new URL('service-process.js', import.meta.url)), [JSON.stringify(settings)]);
  const generator = new RequestLoad();
  const port = await nextMessage(service, z.int());
  const postmaster = await postmasterPid(postgres.superuserUrl);
  const usage = async (): Promise<ServiceUsage> => {
    service.send('usage');
    return nextMessage(service, ServiceUsage);
  };
  return {
    run: async (job) => {
      const { writeKey: apiKey, versions } = site;
      await generator.prepare({ kind: 'signed', ...job, port, apiKey, documentVersionId: versions.cookieEn });
      const postgresBefore = await postgresCpuMs(postmaster);
      await usage();
      const result = await generator.run();
      const used = await usage();
      const postgresAfter = await postgresCpuMs(postmaster);
      return {
        ms: result.ms,
        serviceCpuMs: used.cpuMs,
        eventLoopUtilization: used.eventLoopUtilization,
        postgresCpuMs: postgresBefore === null || postgresAfter === null ? null : postgresAfter - postgresBefore,
        generatorCpuMs: result.cpuMs,
      };
    },
    stop: async () => {
      await generator.stop();
      if (service.connected) service.send('stop');
      await ended(service);
    },
  };
}

async function ended(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
}
