import { SEALED_TABLE_NAMES } from '../database/sealed-tables.js';

/** Tables whose rows the service checks when it reads them. */
export const ALTERED_ROW_TABLES = ['record_keys', 'keyring', 'read_model.consents', ...SEALED_TABLE_NAMES] as const;

/** A stored row that the service did not write in this form. It is left out and grants nothing. */
export interface AlteredRow {
  readonly table: (typeof ALTERED_ROW_TABLES)[number];
  /** Value of the primary key. It names no person. */
  readonly id: string;
}

/** Receives each altered row that was found, for log and metrics. Must not throw. */
export type ReportAlteredRow = (row: AlteredRow) => void;
