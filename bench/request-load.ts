import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type LoadJob, LoadResult, nextMessage } from './messages.js';

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
