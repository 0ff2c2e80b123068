import type pg from 'pg';
import type { Log } from '../background/part.js';
import type { LookUpTxt } from '../catalogue/domain-challenge.js';
import type { Config } from '../config/index.js';
import type { EventLog } from '../event-log/port.js';
import type { Keyring } from '../keys/index.js';
import type { Verifier } from '../verification/verifier.js';

/** What the handlers of the panel work with. */
export interface PanelDeps {
  /** Reads: connections in the role `consent_ledger_api`. */
  readonly apiPool: pg.Pool;
  readonly config: Config;
  readonly keyring: Keyring;
  readonly eventLog: EventLog;
  readonly verifier: Verifier;
  readonly logger: Log;
  readonly lookUpTxt: LookUpTxt;
}
