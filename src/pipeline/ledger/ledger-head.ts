import { randomUUID } from 'node:crypto';
import { mkdir, open, readFile, rename } from 'node:fs/promises';
import { dirname } from 'node:path';
import { z } from 'zod';
import { toHex } from '../../../schemas/crypto/encoding.js';
import { LEDGER_RESTORED } from '../../../schemas/events/ledger.js';
import { Count, Instant, Sha256Hex } from '../../../schemas/evidence/primitives.js';
import type { Queryable } from '../../platform/database/pool.js';
import { syncFolder } from '../../platform/files/sync-folder.js';
import type { EventLog } from '../event-log/port.js';
import { ledgerEvent, tryAppendToLedger } from './append-to-ledger.js';
import { catchUpLedger } from './apply-ledger.js';
import { LedgerHeadMissing, LedgerHeadUnreadable, LedgerRolledBack } from './errors.js';
import { type LedgerState, readLedgerRoot } from './ledger-state.js';

const LedgerHead = z.strictObject({
  v: z.literal(1),
  /** Number of batches. */
  size: Count,
  /** Root of the ledger tree at that size. */
  root: Sha256Hex,
  /** Last revision of the stream `ledger`. */
  revision: z.int().min(-1),
  /** Verifier-key line of the signing key at that time; its name is the ledger's origin. */
  key: z.string().nullable(),
  written_at: Instant,
});
export type LedgerHead = z.infer<typeof LedgerHead>;

/**
 * The newest known head of the ledger, in a file outside the database. A restore of the database
 * does not change it.
 */
export interface LedgerHeadFile {
  readonly path: string;
  /**
   * @returns null if the file does not exist
   * @throws LedgerHeadUnreadable if the file does not contain a ledger head; errors of the file system
   */
  read(): Promise<LedgerHead | null>;
  /** Writes the head. It is durable on disk when the promise resolves. */
  write(head: LedgerHead): Promise<void>;
}

export function openLedgerHeadFile(path: string): LedgerHeadFile {
  return {
    path,
    read: async () => {
      const text = await readFile(path, 'utf8').catch((error: unknown) => {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null;
        throw error;
      });
      return text === null ? null : parseHead(text, path);
    },
    write: async (head) => {
      await mkdir(dirname(path), { recursive: true, mode: 0o700 });
      const temporary = `${path}.${randomUUID()}`;
      const file = await open(temporary, 'w', 0o600);
      try {
        await file.writeFile(`${JSON.stringify(head)}\n`);
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(temporary, path);
      await syncFolder(dirname(path));
    },
  };
}

function parseHead(text: string, path: string): LedgerHead {
  try {
    return LedgerHead.parse(JSON.parse(text));
  } catch (error) {
    throw new LedgerHeadUnreadable(path, error);
  }
}

/**
 * Stores the current head, unless the file already has it. Called before a time stamp publishes a
 * checkpoint, and after each Merkle batch.
 */
export async function rememberHead(db: Queryable, file: LedgerHeadFile, state: LedgerState): Promise<void> {
  const known = await file.read();
  if (known !== null && known.size >= state.size) return;
  await file.write(await headOf(db, state));
}

/**
 * Refuses to sign for a ledger that does not continue the remembered one: a log that was restored
 * from an older backup would seal differently what was already sealed and stamped. Without a
 * remembered head nothing tells a restored copy from the installation that signs, so that only an
 * empty ledger begins a new file.
 * @throws LedgerRolledBack, LedgerHeadMissing, LedgerHeadUnreadable
 * @throws the errors of `catchUpLedger`; errors of the file system
 */
export async function assertMaySign(db: Queryable, eventLog: EventLog, file: LedgerHeadFile): Promise<void> {
  const head = await file.read();
  const state = await catchUpLedger(db, eventLog);
  if (head === null) {
    if (state.size > 0) throw new LedgerHeadMissing(state.size, file.path);
    await rememberHead(db, file, state);
  } else if (!(await continues(db, state, head))) throw new LedgerRolledBack(head.size, state.size, file.path);
}

/**
 * Lets this installation sign for a ledger whose head file is missing, on the decision of an
 * operator: the file begins with the head that the ledger has now.
 * @param report called with that head before it is written, to record the decision
 * @returns null if there is a file already: nothing has to be adopted
 * @throws LedgerHeadUnreadable; the errors of `catchUpLedger` and of `report`; errors of the file system
 */
export async function adoptLedger(
  db: Queryable,
  eventLog: EventLog,
  file: LedgerHeadFile,
  report: (head: LedgerHead) => Promise<void>,
): Promise<LedgerHead | null> {
  if ((await file.read()) !== null) return null;
  const head = await headOf(db, await catchUpLedger(db, eventLog));
  await report(head);
  await file.write(head);
  return head;
}

/**
 * Accepts, on the decision of an operator, a ledger that lost its end. The ledger records this
 * permanently, and the file restarts with the current head.
 * @returns null if nothing was lost
 * @throws the errors of `catchUpLedger` and `tryAppendToLedger`
 */
export async function acceptRestoredLedger(
  db: Queryable,
  eventLog: EventLog,
  file: LedgerHeadFile,
): Promise<{ readonly lostFromSize: number; readonly head: LedgerHead } | null> {
  const head = await file.read();
  let state = await catchUpLedger(db, eventLog);
  if (head === null || (await continues(db, state, head))) return null;
  const lostFromSize = Math.min(state.size, head.size);
  const event = ledgerEvent(LEDGER_RESTORED, {
    v: 1,
    created_at: new Date().toISOString(),
    lost_from_size: lostFromSize,
    head: { size: head.size, root: head.root, revision: head.revision, key: head.key },
  });
  while (!(await tryAppendToLedger(eventLog, state, event))) state = await catchUpLedger(db, eventLog);
  await file.write(await headOf(db, await catchUpLedger(db, eventLog)));
  return { lostFromSize, head };
}

async function continues(db: Queryable, state: LedgerState, head: LedgerHead): Promise<boolean> {
  return state.size >= head.size && toHex(await readLedgerRoot(db, head.size)) === head.root;
}

async function headOf(db: Queryable, { size, revision, key }: LedgerState): Promise<LedgerHead> {
  const root = toHex(await readLedgerRoot(db, size));
  return { v: 1, size, root, revision, key, written_at: new Date().toISOString() };
}
