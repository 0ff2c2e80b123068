import pg from 'pg';
import type { SoakedService } from './soaked-service.js';

/** A fault of a soak. */
interface SoakFault {
  readonly name: string;
  /** Processes begin anew, and with them their memory. */
  readonly replaces?: true;
  /** Rows are wrong meanwhile: an audit says so, and has to find nothing afterwards. */
  readonly altersRows?: true;
  /** Resolves when the fault is over. */
  strike(service: SoakedService): Promise<void>;
}

/** Shorter than `serve` waits for a sign of life. */
const HANG_MS = 5_000;
const ALTERED_MS = 5_000;
/** More than the difference of the clocks that is tolerated. */
const CLOCK_AHEAD_MS = 120_000;

const LOUD: readonly SoakFault[] = [
  {
    name: 'the worker process is killed',
    replaces: true,
    strike: async (service) => signal(await service.workerPid(), 'SIGKILL'),
  },
  {
    name: 'the worker process hangs for 5 s',
    strike: async (service) => hang(await service.workerPid()),
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
    strike: (service) =>
      asSuperuser(
        service,
        `select pg_terminate_backend(pid) from pg_stat_activity
          where datname = current_database() and application_name like 'consent-ledger%'`,
      ),
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

const flip = (column: string) => `${column} = set_byte(${column}, 0, get_byte(${column}, 0) # 1)`;
/** Rows of the derived tables that are never changed after they were written: each is put right by its inverse. */
const SETTLED = '(select coalesce(max(size), 0) from checkpoints)';

const QUIET: readonly SoakFault[] = [
  {
    name: 'answers to callers are lost for 1 s',
    strike: async (service) => {
      service.callers.swallowAnswers();
      await sleep(1_000);
      service.callers.restore();
    },
  },
  altering('nodes of the ledger tree', `update ledger_nodes set ${flip('hash')} where (index + 1) << level <= $size`),
  ...(['answer-lost', 'failed-after'] as const).map((fault) => ({
    name:
      fault === 'answer-lost'
        ? 'the answer of the database to a write is lost, 20 times'
        : 'the database answers a durable write with an error, 20 times',
    strike: async (service: SoakedService) => {
      for (let times = 0; times < 20; times += 1) {
        const struck = service.front.arm(fault, ({ text }) => /^(?:commit|insert|update|select admit)/i.test(text));
        await Promise.race([struck, sleep(2_000)]);
        await sleep(100);
      }
    },
  })),
  altering('leaves of the batches', `update batches set ${flip('leaves')} where count > 0 and number < $size`),
  {
    name: 'the clock of the processes is two minutes ahead for 5 s',
    strike: async (service) => {
      await service.shiftClock(CLOCK_AHEAD_MS);
      await sleep(HANG_MS);
      await service.shiftClock(0);
    },
  },
  {
    name: 'the database answers nothing for 5 s',
    strike: async (service) => {
      service.front.silence();
      await sleep(HANG_MS);
      service.front.restore();
    },
  },
  {
    name: 'each commit takes 100 ms longer for 10 s, as on a slow disk',
    strike: async (service) => {
      await asSuperuser(service, 'alter system set commit_delay = 100000', 'alter system set commit_siblings = 0');
      await asSuperuser(service, 'select pg_reload_conf()');
      await sleep(10_000);
      await asSuperuser(service, 'alter system reset commit_delay', 'alter system reset commit_siblings');
      await asSuperuser(service, 'select pg_reload_conf()');
    },
  },
  {
    name: 'serve itself hangs for 5 s',
    strike: async (service) => hang(await service.apiPid()),
  },
  altering(
    'the end of each sealed stream',
    'create table kept as select * from sealed_streams; update sealed_streams set revision = revision - 1',
    `update sealed_streams s set revision = k.revision from kept k
      where s.number = k.number and s.revision = k.revision - 1; drop table kept`,
  ),
];

/** Loud and quiet faults in turn. */
export const SOAK_FAULTS: readonly SoakFault[] = QUIET.flatMap((fault, turn) => {
  const loud = LOUD[turn];
  return loud === undefined ? [fault] : [loud, fault];
});

/** A temporary change of derived rows. @param altered SQL; `$size` is that of the newest checkpoint */
function altering(what: string, altered: string, restored = altered): SoakFault {
  return {
    name: `wrong rows for 5 s: ${what}`,
    altersRows: true,
    strike: async (service) => {
      const size = await sizeOf(service);
      const run = (sql: string) =>
        asSuperuser(
          service,
          `begin; set local session_replication_role = replica; ${sql.replace('$size', size)}; commit`,
        );
      await run(altered);
      await sleep(ALTERED_MS);
      await run(restored);
    },
  };
}

async function sizeOf(service: SoakedService): Promise<string> {
  const client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  try {
    const { rows } = await client.query<{ size: string }>(`select ${SETTLED}::text as size`);
    return rows[0]?.size ?? '0';
  } finally {
    await client.end();
  }
}

async function asSuperuser(service: SoakedService, ...statements: readonly string[]): Promise<void> {
  const client = new pg.Client({ connectionString: service.databaseUrl });
  await client.connect();
  try {
    for (const sql of statements) await client.query(sql);
  } finally {
    await client.end();
  }
}

async function hang(pid: number | null): Promise<void> {
  signal(pid, 'SIGSTOP');
  await sleep(HANG_MS);
  signal(pid, 'SIGCONT');
}

function signal(pid: number | null, name: NodeJS.Signals): void {
  // A worker that was just replaced needs no fault.
  if (pid !== null && pid > 0) process.kill(pid, name);
}

function sleep(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}
