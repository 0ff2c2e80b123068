import * as z from 'zod';

/** Format and version of a receipt: a package of one record in one JSON file. */
export const RECEIPT_FORMAT = 'consent-ledger-receipt';

/** Largest receipt that a verifier reads, in bytes. */
export const MAX_RECEIPT_BYTES = 16 * 1024 * 1024;

/** The evidence of one record: the files of a package, by name. */
export const Receipt = z
  .strictObject({
    format: z.literal(RECEIPT_FORMAT).describe('Name of the format.'),
    version: z.literal(1).describe('Version of the format.'),
    files: z
      .record(z.string().max(300), z.string())
      .describe('Files of the package by name: text as it is, all other content in base64.'),
  })
  .meta({ id: 'Receipt' });
export type Receipt = z.infer<typeof Receipt>;

/** Whether a receipt holds a file of this name as text; all others are in base64. */
export function isTextFile(name: string): boolean {
  return /\.(?:json|jws|ndjson|note|cosignatures|txt)$/.test(name);
}
