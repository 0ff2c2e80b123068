import { eventIdOfConsentToken } from '../../schemas/events/consent-recorded.js';
import type { Admission } from '../pipeline/admission/admission.js';
import type { LedgerMemory } from '../pipeline/ledger/ledger-guard.js';
import { OperatorNeeded } from '../platform/background/part.js';
import type { Queryable } from '../platform/database/pool.js';
import type { ServerBinding } from '../platform/database/server-binding.js';
import { recordsWithoutKey } from '../platform/database/shared-statements.js';
import { RequestRefused } from '../platform/errors.js';

/** Facts that a process knows from its own work. A database that went back in time contradicts them. */
export interface ProcessMemory extends LedgerMemory {
  /** The consents that it accepted most recently, the newest at the end. */
  accepted: readonly AcceptedConsent[];
}

interface AcceptedConsent {
  readonly eventId: string;
  /** Monotonic milliseconds. */
  readonly at: number;
}

/** The database lacks consents that were accepted a moment ago. */
export class ConsentsLost extends OperatorNeeded {
  override readonly name = 'ConsentsLost';
  constructor(lost: number, known: number) {
    super(
      `Of the last ${known} consents that this process accepted, ${lost} are not in the database: it went back in time. ` +
        'Callers hold answers and promises for them. Read docs/restore.md; a restart of this process accepts the loss.',
    );
  }
}

/**
 * How long accepted consents are remembered, in milliseconds. A standby lags by seconds or minutes, and older consents
 * are in Merkle batches, which the known head covers.
 */
const REMEMBERED_MS = 600_000;
const MAX_REMEMBERED = 256;

export function createProcessMemory(): ProcessMemory {
  return { head: null, accepted: [] };
}

/** Remembers consents that this process, or another one of this service, has just accepted. */
export function noteAccepted(memory: ProcessMemory, eventIds: readonly string[]): void {
  const at = performance.now();
  memory.accepted = [...memory.accepted, ...eventIds.map((eventId) => ({ eventId, at }))].slice(-MAX_REMEMBERED);
}

const RETRY_AFTER_SECONDS = 2;

/**
 * Wraps admission so that accepted consents are remembered. An acceptance by a server that this process no longer uses
 * does not count: the caller has to repeat the request.
 */
export function rememberAccepted(
  admission: Admission,
  { memory, server }: { readonly memory: ProcessMemory; readonly server: ServerBinding },
): Admission {
  return {
    ...admission,
    admit: async (request, parse) => {
      const result = await admission.admit(request, parse);
      if (server.refusal() !== null) {
        throw new RequestRefused('ADMISSION_UNAVAILABLE', undefined, { retryAfterSeconds: RETRY_AFTER_SECONDS });
      }
      const ids = result.consents.flatMap((consent) =>
        consent.status === 'accepted' ? (eventIdOfConsentToken(consent.consentToken) ?? []) : [],
      );
      noteAccepted(memory, ids);
      return result;
    },
  };
}

/**
 * Checks that the database has the consents that this process accepted most recently.
 * @throws ConsentsLost, database errors
 */
export async function assertAcceptedKept(db: Queryable, memory: ProcessMemory): Promise<void> {
  const since = performance.now() - REMEMBERED_MS;
  const ids = memory.accepted.filter(({ at }) => at > since).map(({ eventId }) => eventId);
  const missing = await recordsWithoutKey(db, ids);
  if (missing.length > 0) throw new ConsentsLost(missing.length, ids.length);
}
