import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import * as z from 'zod';
import { type LoadCommand, nextMessage, SustainedResult } from './messages.js';

/** The generator of a sustained load, in a process of its own. */
export class LoadGenerator {
  private readonly child: ChildProcess = fork(fileURLToPath(new URL('sustained-load-process.js', import.meta.url)));

  async prepare(job: Omit<Extract<LoadCommand, { kind: 'prepare' }>, 'kind'>): Promise<void> {
    const ready = nextMessage(this.child, z.literal('ready'));
    this.tell({ kind: 'prepare', ...job });
    await ready;
  }

  /** @param rate requests a second; null: as fast as the connections allow */
  run(ms: number, rate: number | null): Promise<SustainedResult> {
    const result = nextMessage(this.child, SustainedResult);
    this.tell({ kind: 'go', ms, rate });
    return result;
  }

  setRate(rate: number | null): void {
    this.tell({ kind: 'rate', rate });
  }

  async stop(): Promise<void> {
    if (this.child.connected) this.child.disconnect();
    if (this.child.exitCode === null && this.child.signalCode === null) await once(this.child, 'exit');
  }

  private tell(command: LoadCommand): void {
    this.child.send(command);
  }
}
