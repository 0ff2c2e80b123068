import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { MAX_ANNOUNCEMENTS } from '../../schemas/evidence/contradiction.js';
import { MAX_COSIGNATURES_BYTES } from '../../schemas/evidence/cosignature.js';
import { MAX_LINE_BYTES } from '../../schemas/evidence/package-lines.js';
import { PROOF_LIMITS } from '../../schemas/evidence/proof-limits.js';
import { MAX_RECEIPT_BYTES } from '../../schemas/evidence/receipt.js';
import { WORK_LIMIT } from '../../schemas/rfc3161/work.js';
import { LIMITS } from '../../verifier-cli/src/container/limits.js';
import { CLOCK_TOLERANCE_MS } from '../../verifier-cli/src/time/claimed-times.js';
import { DEFAULT_MAX_AGE_MS } from '../../verifier-cli/src/time/freshness.js';
import { WORK } from '../../verifier-cli/src/work/work-meter.js';

/* The numbers that docs/evidence-format.md §17 freezes: a package that a verifier accepted stays accepted. */

const Numbers = z.record(z.string(), z.number());
const Frozen = z.strictObject({ limits: Numbers, work: Numbers, tolerances: Numbers });
const FILE = new URL('frozen-limits-1.0.json', import.meta.url);

const lines = { lineBytes: MAX_LINE_BYTES, receiptBytes: MAX_RECEIPT_BYTES, cosignaturesBytes: MAX_COSIGNATURES_BYTES };
const proofs = Object.fromEntries(Object.entries(PROOF_LIMITS).map(([name, limit]) => [`proofs.${name}`, limit]));
const found: z.infer<typeof Frozen> = {
  limits: { ...LIMITS, ...proofs, ...lines, announcements: MAX_ANNOUNCEMENTS, ...WORK_LIMIT },
  work: { ...WORK },
  tolerances: { clockMs: CLOCK_TOLERANCE_MS, maxAgeMs: DEFAULT_MAX_AGE_MS },
};
if (process.env.UPDATE_FROZEN !== undefined) await writeFile(FILE, `${JSON.stringify(found, null, 2)}\n`);
const frozen = Frozen.parse(JSON.parse(await readFile(FILE, 'utf8')));

test.each(Object.entries(frozen.limits))('the limit %s is not lowered', (name, least) => {
  expect(found.limits[name]).toBeGreaterThanOrEqual(least);
});

test.each(Object.entries(frozen.work))('the work of %s does not cost more', (name, most) => {
  expect(found.work[name]).toBeLessThanOrEqual(most);
});

test('tolerances and defaults are the frozen ones, and every limit is frozen', () => {
  expect(found.tolerances).toEqual(frozen.tolerances);
  expect(Object.keys(found.limits).sort()).toEqual(Object.keys(frozen.limits).sort());
});
