import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { ERASURES } from '../api/tool/export-fixture.js';
import { settled } from './invariants.js';
import type { Write } from './postgres-frames.js';
import type { Asked, Role, World } from './world.js';

/** A step between two durable states. */
export interface Step {
  readonly title: string;
  /** The write that makes the second state durable. */
  readonly write: string;
  /** Place of the fault: in front of the database of a role or of a command, or of the authority. */
  readonly at: Role | 'command' | 'authority';
  readonly isMeant: (write: Write) => boolean;
  /** Lets the service take the step. Resolves when the caller, or the operator, has what was asked for. */
  readonly provoke: (world: World) => Promise<Asked>;
  /** Called after the fault, when what died was replaced: lets the time pass that the service waits for. */
  readonly wait?: (world: World, isOver: () => boolean) => Promise<void>;
  /** Roles to start again when the step is done, as the documentation asks for. */
  readonly restarts?: readonly Role[];
}

const appends =
  (type: string, ...parts: readonly string[]) =>
  ({ text, parameters }: Write): boolean =>
    text.includes('event_log.append') && [type, ...parts].every((part) => parameters.includes(part));
const commits =
  (...statements: readonly string[]) =>
  ({ text, before }: Write): boolean =>
    text === 'COMMIT' && statements.every((statement) => before.some((one) => one.text.includes(statement)));
const runs =
  (statement: string) =>
  ({ text }: Write): boolean =>
    text.includes(statement);

const recordOne = (world: World): Promise<Asked> => world.record();

/** Admission, relay and read models. */
export const RECORD_STEPS: readonly Step[] = [
  {
    title: 'Admission',
    write: 'The transaction of a group of consents, and the answers with their promises',
    at: 'api',
    isMeant: runs('from admit_group'),
    provoke: recordOne,
  },
  {
    title: 'Relay',
    write: 'The positions of a page of waiting events in the event log',
    at: 'worker',
    isMeant: runs('select event_log.sequence'),
    provoke: recordOne,
  },
  {
    title: 'Projection',
    write: 'The rows of a read model, with its position',
    at: 'worker',
    isMeant: commits('update projection_generations set position'),
    provoke: recordOne,
  },
  {
    title: 'Rebuild',
    write: 'The swap of a rebuilt read model',
    at: 'command',
    isMeant: commits('insert into projection_views'),
    provoke: async (world) => {
      await world.record();
      return world.command('projections', 'rebuild', 'consents');
    },
  },
];

/** Merkle batches. */
export const SEAL_STEPS: readonly Step[] = [
  {
    title: 'Seal',
    write: 'The append of a Merkle batch to the ledger',
    at: 'worker',
    isMeant: appends('BatchSealed'),
    provoke: recordOne,
  },
  {
    title: 'Batch tables',
    write: 'The leaves, nodes and header of the batch in the tables',
    at: 'worker',
    isMeant: commits('insert into ledger_events', 'insert into batches'),
    provoke: recordOne,
  },
  {
    title: 'Person tags',
    write: 'The numbers of records in their persons',
    at: 'worker',
    isMeant: commits('insert into persons'),
    provoke: recordOne,
  },
];

/** Time stamps, and the key that signs what is stamped. */
export const STAMP_STEPS: readonly Step[] = [
  {
    title: 'Stamp request',
    write: 'The time stamp that the authority issues',
    at: 'authority',
    isMeant: () => true,
    provoke: recordOne,
  },
  {
    title: 'Stamp store',
    write: 'The append of the time stamp to the ledger',
    at: 'worker',
    isMeant: appends('CheckpointStamped'),
    provoke: recordOne,
  },
  {
    title: 'Ledger key',
    write: 'The append of the announcement of the next keys',
    at: 'command',
    isMeant: appends('LedgerKeyAnnounced'),
    provoke: (world) => world.command('admin', 'ledger', 'rotate-key'),
    restarts: ['worker', 'api'],
  },
  {
    title: 'New signing key',
    write: 'The promotion of the new ledger key in the keyring',
    at: 'command',
    isMeant: ({ text, parameters }) => /update keyring/i.test(text) && parameters.includes('next-ledger'),
    provoke: (world) => world.command('admin', 'ledger', 'rotate-key'),
    restarts: ['worker', 'api'],
  },
];

/** Roll-ups: every 128th leaf of the ledger. */
export const ROLL_UP_STEPS: readonly Step[] = [
  {
    title: 'Roll-up',
    write: 'The append of a roll-up over 127 batches',
    at: 'worker',
    isMeant: appends('BatchSealed', 'level\\":1'),
    provoke: async (world) => {
      // The first batch comes after the key of the ledger.
      await world.record();
      await settled(world.superuser);
      await world.growLedgerToRollUp();
      return world.record();
    },
  },
];

const State = z.looseObject({ state: z.string() });
const Created = z.object({ data: z.object({ id: z.string() }) });

/** Orders an erasure as a backend does. @returns a request to repeat until it is answered with 202 */
function erasureOf(world: World, visitor: string): () => Promise<boolean> {
  const order = { subject: { by: 'visitor_id', value: visitor }, idempotency_key: randomUUID() };
  return async () => (await world.shop.post(ERASURES, order)).status === 202;
}

async function erase(world: World): Promise<Asked> {
  const visitor = `erased-${randomUUID()}`;
  await world.record(visitor);
  return world.ask(erasureOf(world, visitor));
}

/** Erasures and exports. */
export const PERSON_STEPS: readonly Step[] = [
  {
    title: 'Erasure order',
    write: 'The order of an erasure',
    at: 'api',
    isMeant: commits('insert into erasure_requests'),
    provoke: erase,
  },
  {
    title: 'Erasure',
    write: 'The destruction of the keys, after the line in the journal',
    at: 'worker',
    isMeant: commits('delete from record_keys'),
    provoke: erase,
  },
  {
    title: 'Announcement',
    write: 'The announcement of the erasure in the outbox',
    at: 'worker',
    isMeant: commits('insert into erasure_events'),
    provoke: erase,
  },
  ...(['insert into export_chunks', 'sealed_visitor = null, bytes = '] as const).map(
    (statement): Step => ({
      title: statement.includes('chunks') ? 'Export' : 'End of an export',
      write: statement.includes('chunks') ? 'A piece of the encrypted package' : 'The finished package',
      at: 'worker',
      isMeant: statement.includes('chunks') ? runs(statement) : commits(statement),
      provoke: async (world) => {
        const created = await world.shop.inSite('owner', 'POST', '/exports', {
          filter: {},
          disclose: 'all',
          reason: 'for the test',
        });
        const { id } = Created.parse(created.body).data;
        await world.shop.until(State, `/exports/${id}`, ({ state }) => state === 'finished');
        return { attempts: 1 };
      },
      // Another worker takes an export over 15 seconds after the last sign of life, and one that failed is
      // tried again after 30 seconds.
      wait: async (world, isOver) => {
        await world.superuser.query(`update export_jobs set heartbeat_at = heartbeat_at - interval '1 minute'`);
        while (!isOver()) {
          await world.superuser.query('update export_jobs set retry_at = now() where retry_at > now()');
          await new Promise((resolve) => setTimeout(resolve, 50));
        }
      },
    }),
  ),
];
