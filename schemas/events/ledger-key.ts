import * as z from 'zod';
import { Instant, KeyLine, Uuid } from '../evidence/primitives.js';

export const LEDGER_KEY_ANNOUNCED = 'LedgerKeyAnnounced.v1';

/** Maximum number of keys that a ledger has at a time. */
const MAX_LEDGER_KEYS = 4;

/**
 * The next keys of the ledger, sealed in the stream `policy`. Both the current keys and these sign the first checkpoint
 * over it; later ones are signed only by these (docs/evidence-format.md §8).
 */
export const LedgerKeyAnnouncedRecord = z.strictObject({
  v: z.literal(1),
  event_id: Uuid,
  created_at: Instant,
  /** Verifier-key lines: today one of Ed25519 and one of ML-DSA-44. */
  keys: z.array(KeyLine).min(1).max(MAX_LEDGER_KEYS),
});
export type LedgerKeyAnnouncedRecord = z.infer<typeof LedgerKeyAnnouncedRecord>;
