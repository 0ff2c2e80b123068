import type { KeyObject } from 'node:crypto';
import type pg from 'pg';
import type { EventLog } from '../pipeline/event-log/port.js';
import type { Keyring } from '../platform/keys/index.js';
import type { Findings } from './finding.js';

/** Dependencies that all sections of an audit share. */
export interface AuditParts {
  /** In the role `consent_ledger_auditor`. */
  readonly db: pg.Pool;
  /** Read only. */
  readonly eventLog: EventLog;
  /** Read only. */
  readonly keyring: Keyring;
  readonly master: KeyObject;
  /** DER of the root certificates of the time stamp authorities. */
  readonly trustAnchors: readonly Uint8Array[];
  /** Time for which time stamps and open promises are verified. */
  readonly now: () => Date;
}

/** A section at work. */
export interface Section extends AuditParts {
  readonly findings: Findings;
  /** Reports progress, rests as the load asks, and ends the audit when it was cancelled. @param done rows or events so far */
  step(done: number, total: number | null): Promise<void>;
}
