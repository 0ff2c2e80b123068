import * as z from 'zod';
import { counted } from '../../schemas/text/counted.js';
import { NO_STREAM, type Position } from '../pipeline/event-log/port.js';
import { streamEnds } from '../pipeline/relay/log-check.js';
import type { Section } from './section.js';

/** Streams that a finding names. */
const NAMED = 3;

/** A stream that has fewer events in the log than the database knows. */
interface Shortened {
  readonly stream: string;
  /** The first missing revision. */
  readonly first: number;
  readonly events: number;
}

/**
 * Checks that the log still has the ends of its streams, as far as the database knows them. A log that was restored
 * from an older backup lacks its last events, and everything that is derived from them disagrees with it. One finding
 * says so, and the disagreements after it are folded below it (`collectFindings`). An event that is neither in the log
 * nor waiting, and from which nothing was derived, does not belong to a lost tail: the section of the outbox reports
 * it.
 * @param end position of the last event that was read, or null if the log has none
 * @param derivedUpTo the last position from which something was derived, or null if there is none
 */
export async function auditLogEnd(
  { db, eventLog, findings }: Section,
  end: Position | null,
  derivedUpTo: Position | null,
): Promise<void> {
  const shortened: Shortened[] = [];
  for await (const { stream, known, actual } of streamEnds(db, eventLog))
    if (actual < known) shortened.push({ stream, first: actual + 1, events: known - actual });
  if (shortened.length === 0) return;
  const isDerived = (derivedUpTo ?? '') > (end ?? '') || (await areSealed(db, shortened));
  if (!isDerived) return;
  const events = shortened.reduce((sum, one) => sum + one.events, 0);
  const named = shortened.slice(0, NAMED).map(({ stream, first }) => `${stream} from revision ${first} on`);
  const others = shortened.length - named.length;
  findings.add({
    kind: 'log-tail-lost',
    table: 'event_log.events',
    key: '',
    detail:
      `the log lost its tail: ${counted(events, 'event')} of ${counted(shortened.length, 'stream')} ${from(end)} are gone ` +
      `(${named.join(', ')}${others > 0 ? `, and ${others} more` : ''})`,
  });
}

const SealedRows = z.array(z.object({ stream: z.string(), revision: z.int() }));

/** Returns whether any of the missing events is sealed. */
async function areSealed(db: Section['db'], shortened: readonly Shortened[]): Promise<boolean> {
  const { rows } = await db.query('select stream, revision from sealed_streams where stream = any($1)', [
    shortened.map(({ stream }) => stream),
  ]);
  const sealed = new Map(SealedRows.parse(rows).map(({ stream, revision }) => [stream, revision]));
  return shortened.some(({ stream, first }) => (sealed.get(stream) ?? NO_STREAM) >= first);
}

/** The `postgres` log counts positions by one. In other logs, a position has no successor. */
function from(end: Position | null): string {
  if (end === null) return 'from the first position on';
  return /^\d+$/.test(end) ? `from position ${BigInt(end) + 1n} on` : `after position ${end}`;
}
