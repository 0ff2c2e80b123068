import pg from 'pg';
import type { SoakedService } from './soaked-service.js';

/** A fault of a soak. `replaces`: processes begin anew, and with them their memory. */
interface SoakFault {
  readonly name: string;
  readonly replaces: boolean;
  strike(service: SoakedService): Promise<void>;
}

/** Shorter than `serve` waits for a sign of life. */
const HANG_MS = 5_000;

export const SOAK_FAULTS: readonly SoakFault[] = [
  {
    name: 'the worker process is killed',
    replaces: true,
    strike: async (service) => signal(await service.workerPid(), 'SIGKILL'),
  },
  {
    name: 'the worker process hangs for 5 s',
    replaces: false,
    strike: async (service) => {
      const pid = await service.workerPid();
      signal(pid, 'SIGSTOP');
      await new Promise((resolve) => setTimeout(resolve, HANG_MS));
      signal(pid, 'SIGCONT');
    },
  },
  {
    name: 'the worker process hangs for good',
    replaces: true,
    strike: async (service) => signal(await service.workerPid(), 'SIGSTOP'),
  },
  {
    name: 'serve is killed and started again',
    replaces: true,
    strike: async (service) => {
      await service.end('SIGKILL');
      await service.start();
    },
  },
  {
    name: 'every connection to the database is cut',
    replaces: false,
    strike: async (service) => {
      const client = new pg.Client({ connectionString: await service.databaseUrl() });
      await client.connect();
      try {
        await client.query(
          `select pg_terminate_backend(pid) from pg_stat_activity
            where datname = current_database() and pid <> pg_backend_pid()`,
        );
      } finally {
        await client.end();
      }
    },
  },
  {
    name: 'serve is stopped in order and started again',
    replaces: true,
    strike: async (service) => {
      await service.end('SIGTERM');
      await service.start();
    },
  },
];

function signal(pid: number | null, name: NodeJS.Signals): void {
  // A worker that was just replaced needs no fault.
  if (pid !== null) process.kill(pid, name);
}
