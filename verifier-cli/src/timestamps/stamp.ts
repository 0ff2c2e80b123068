import type { TimestampReport } from '../../../schemas/rfc3161/report.js';

/** A newer stamp that holds, over a ledger that names an older one. */
export interface RenewingStamp {
  readonly size: number;
  /** Its genTime: the older stamp is evaluated by the algorithms that were sound then. */
  readonly time: Date;
}

/** A time stamp over a checkpoint. */
export interface Stamp {
  readonly size: number;
  /** Name of the response file. */
  readonly file: string;
  /** Hex SHA-256 of the response file: batches sealed later name it. */
  readonly sha256: string;
  readonly report: TimestampReport;
  /** The newer stamp at whose time it was evaluated; null if there is none. */
  readonly renewedBy: RenewingStamp | null;
}

/** Stamps by size of their checkpoint, smallest first, and by their number. */
export type Stamps = readonly Stamp[];
