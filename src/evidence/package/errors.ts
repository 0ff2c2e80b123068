/** The reason why an export failed. */
export type ExportProblem =
  /** An erasure of the site was committed during the export: export again. */
  | 'cancelled-by-erasure'
  /**
   * The event log and the ledger's tables contradict each other: an operator must find the cause
   * before an export can succeed.
   */
  | 'log-and-ledger-differ'
  /** A record in the log differs from the accepted one: its proof hash does not match. */
  | 'proof-hash-differs'
  /** The package would exceed a limit of the format: choose a shorter time range. */
  | 'too-large'
  /** The filter is invalid. */
  | 'invalid-filter'
  /** The output file already exists. */
  | 'output-exists'
  /** The ledger's key has not certified the manifest key: start the service once. */
  | 'manifest-key-not-certified';

/**
 * The export made no package and left no file. `message` is readable text without personal values.
 */
export class ExportFailed extends Error {
  override readonly name = 'ExportFailed';
  constructor(
    readonly problem: ExportProblem,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** Reports an inconsistency. @throws ExportFailed `log-and-ledger-differ`, always */
export function differ(message: string): never {
  throw new ExportFailed('log-and-ledger-differ', message);
}
