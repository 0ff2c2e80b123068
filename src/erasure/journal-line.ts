import * as z from 'zod';
import { decodeUtf8, utf8 } from '../../schemas/crypto/encoding.js';
import { ERASURE_REASONS } from '../../schemas/events/subject-erased.js';
import { Uuid } from '../../schemas/evidence/primitives.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';

/**
 * A line of the erasure journal: the data that one transaction destroyed. It contains random ids
 * only, no personal data.
 */
export const JournalLine = z.strictObject({
  v: z.literal(1),
  /** Null if only approval tokens were deleted. */
  erased: z
    .strictObject({
      site_id: Uuid,
      reason: z.enum(ERASURE_REASONS),
      /** Event ids of the records whose keys were destroyed. */
      event_ids: z.array(Uuid).min(1),
    })
    .nullable(),
  /** Ids of deleted approval tokens. */
  approval_tokens: z.array(z.string().regex(/^atk_[A-Za-z0-9_-]{1,60}$/)),
  /** Ids of deleted test records; absent: none. */
  test_records: z.array(Uuid).exactOptional(),
});
export type JournalLine = z.infer<typeof JournalLine>;

/** Encodes a line as canonical JSON (RFC 8785), without the line feed. */
export function encodeJournalLine(line: JournalLine): Uint8Array {
  return utf8(canonicalJson(line));
}

/** Decodes a line. @returns null for any bytes that are not a complete line */
export function decodeJournalLine(bytes: Uint8Array): JournalLine | null {
  const text = decodeUtf8(bytes);
  if (text === null) return null;
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return null;
  }
  const parsed = JournalLine.safeParse(json);
  return parsed.success ? parsed.data : null;
}
