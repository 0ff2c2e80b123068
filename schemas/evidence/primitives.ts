import * as z from 'zod';
import { fromBase64, fromHex } from '../crypto/encoding.js';

/** A UUID in lower case, any version. */
export const Uuid = z
  .string()
  .regex(/^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/, 'must be a UUID in lower case');

/** A SHA-256 in lower-case hex. */
export const Sha256Hex = z.string().regex(/^[0-9a-f]{64}$/, 'must be 64 lower-case hex digits');

/** A time in the form `YYYY-MM-DDTHH:MM:SS.sssZ`, which must exist. */
export const Instant = z
  .string()
  .regex(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{3}Z$/, 'must be YYYY-MM-DDTHH:MM:SS.sssZ')
  .refine((text) => {
    const time = Date.parse(text);
    return !Number.isNaN(time) && new Date(time).toISOString() === text;
  }, 'must be a real time');

/** A whole number from 0 to 2^53 − 1. */
export const Count = z.int().min(0);

/**
 * The digest of a disclosure: 32 bytes in canonical base64url, so that the last two bits of its
 * last character are zero.
 */
export const DisclosureDigest = z
  .string()
  .regex(/^[A-Za-z0-9_-]{42}[AEIMQUYcgkosw048]$/, 'must be 32 bytes in base64url');

/** A 32-byte hash in a proof, in lower-case hex, decoded. The published schema has the pattern, which this does not need. */
export const HashFromHex = z
  .string()
  .meta({ pattern: '^[0-9a-f]{64}$' })
  .transform((text, context) => {
    const bytes = text.length === 64 ? fromHex(text) : null;
    if (bytes === null) {
      context.addIssue({ code: 'custom', message: 'must be 64 lower-case hex digits' });
      return z.NEVER;
    }
    return bytes;
  });

/** Bytes in canonical padded base64, decoded. */
export const BytesFromBase64 = z.string().transform((text, context) => {
  const bytes = fromBase64(text);
  if (bytes === null) {
    context.addIssue({ code: 'custom', message: 'must be base64' });
    return z.NEVER;
  }
  return bytes;
});

/** Name of a stream whose events are sealed, or of the ledger itself. */
export const StreamName = z
  .string()
  .regex(/^(?:(?:consents|notices)-[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|policy|ledger)$/);

/** A verifier-key line, without white space in it or around it. The line of an ML-DSA-44 key has 1.8 KB. */
export const KeyLine = z.string().max(2500).regex(/^\S+$/);

/**
 * A name that readers of a certificate see: no character of it breaks the line, is invisible, reorders the text beside
 * it, or is a space other than U+0020. The pattern is over UTF-16 code units, of which U+DB40 begins tags and variation
 * selectors.
 */
export const PlainName = z
  .string()
  .regex(
    // biome-ignore lint/suspicious/noControlCharactersInRegex: they are refused, and \p{Cc} needs a flag that readers of JSON Schema do not set.
    /^(?! )(?!.*(?:\u034f|[\ufe00-\ufe0f]))[^\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u115f\u1160\u1680\u180e\u2000-\u200f\u2028-\u202f\u205f-\u206f\u2800\u3000\u3164\ufeff\uffa0\ufff9-\ufffb\udb40]+(?<! )$/,
    'must be one line without control or invisible characters, and without spaces at its ends',
  )
  .max(300);

/** A link that readers see: visible ASCII after `https://`. */
export const HttpsLink = z.string().regex(/^https:\/\/[!-~]{1,500}$/, 'must be an https URL');
