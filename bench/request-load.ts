import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import type { SiteFixture } from '../test/pipeline/admission/site-fixture.js';
import { type LoadJob, LoadResult, nextMessage } from './messages.js';

/** Returns the job of single consents of new persons for `serve`. */
export function singleConsents(
  { writeKey, versions }: SiteFixture,
  port: number,
  requests: number,
  connections: number,
): LoadJob {
  return {
    kind: 'signed',
    port,
    path: '/tool/v1/consents',
    apiKey: writeKey,
    documentVersionId: versions.cookieEn,
    batch: 0,
    hasPerson: true,
    requests,
    connections,
    expectedStatus: 202,
  };
}

/** The generator of a given number of requests, in a process of its own. */
export class RequestLoad {
  private readonly child: ChildProcess = fork(fileURLToPath(new URL('load-process.js', import.meta.url)));

  /** Makes the requests of a job. */
  async prepare(job: LoadJob): Promise<void> {
    const ready = nextMessage(this.child, z.literal('ready'));
    this.child.send(job);
    await ready;
  }

  /** Sends the requests of the job. */
  run(): Promise<LoadResult> {
    const result = nextMessage(this.child, LoadResult);
    this.child.send('go');
    return result;
  }

  async stop(): Promise<void> {
    if (this.child.connected) this.child.disconnect();
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }
}
