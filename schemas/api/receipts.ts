import * as z from 'zod';
import { DISCLOSURE_NAMES } from '../evidence/disclosed-values.js';

/** The record, by its consent token. */
export const ReceiptParams = z.object({
  token: z
    .string()
    .regex(/^ct_(?:test_)?[0-9a-f]{32}$/, 'must be a consent token')
    .describe('Consent token of the record.'),
});

const NAMES: ReadonlySet<string> = new Set(DISCLOSURE_NAMES);

/** Values that the receipt of a backend discloses. */
export const ReceiptQuery = z.object({
  disclose: z
    .string()
    .max(1000)
    .refine(
      (text) => text === 'all' || text === 'none' || text.split(',').every((name) => NAMES.has(name)),
      'must be all, none, or names of disclosed values separated by commas',
    )
    .optional()
    .describe(
      `Values to disclose: \`all\`, \`none\` (the default), or names separated by commas: ${DISCLOSURE_NAMES.map((name) => `\`${name}\``).join(', ')}.`,
    ),
});
