/** Why an export did not succeed. */
export type ExportProblem =
  /** An erasure of the site was committed meanwhile: export again. */
  | 'cancelled-by-erasure'
  /** The event log and the ledger's tables contradict each other: nothing can be proved until an operator has found out why. */
  | 'log-and-ledger-differ'
  /** A record in the log is not the one that was accepted: its proof hash is another's. */
  | 'proof-hash-differs'
  /** The package would be larger than the format allows: choose a shorter time range. */
  | 'too-large'
  /** The filter cannot be used. */
  | 'invalid-filter'
  /** There is a file at the output's place already. */
  | 'output-exists'
  /** The ledger's key has not certified the key that signs manifests: start the service once. */
  | 'manifest-key-not-certified';

/** No package was made, and nothing of it is left behind. `message` is for people and holds no personal value. */
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

/** @throws ExportFailed `log-and-ledger-differ` */
export function differ(message: string): never {
  throw new ExportFailed('log-and-ledger-differ', message);
}
