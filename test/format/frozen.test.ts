import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { sha256Hex } from '../../schemas/crypto/digest.js';
import { evidenceJsonSchema } from '../../schemas/evidence/json-schemas.js';
import { PACKAGE_FORMAT, PACKAGE_VERSION } from '../../schemas/evidence/manifest.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import { CHECKS } from '../../verifier-cli/src/index.js';

/*
 * consent-ledger-evidence 1.0 is frozen (docs/evidence-format.md §17, “Frozen parts”): packages of it
 * must be verified in the same way for decades, by verifiers that others wrote.
 */

const FILE = new URL('frozen-1.0.json', import.meta.url);
const Frozen = z.strictObject({
  format: z.string(),
  version: z.string(),
  /** SHA-256 of the canonical JSON Schema of each shape. */
  shapes: z.record(z.string(), z.string()),
  /** Whether the verdict requires the check. */
  checks: z.record(z.string(), z.boolean()),
});

const ADVICE =
  'consent-ledger-evidence 1.0 is frozen. Do not change this shape or check: add a new version beside it, as ' +
  'docs/evidence-format.md §17 (“Frozen parts”) says. Only a text in a schema (title, description) may change; ' +
  'then write frozen-1.0.json anew with UPDATE_FROZEN=1, and say why in the commit.';

function present(): z.infer<typeof Frozen> {
  const { $defs } = z.looseObject({ $defs: z.record(z.string(), z.json()) }).parse(evidenceJsonSchema());
  return {
    format: PACKAGE_FORMAT,
    version: PACKAGE_VERSION,
    shapes: Object.fromEntries(Object.entries($defs).map(([name, shape]) => [name, sha256Hex(canonicalJson(shape))])),
    checks: Object.fromEntries(Object.entries(CHECKS).map(([id, { required }]) => [id, required])),
  };
}

if (process.env.UPDATE_FROZEN !== undefined) writeFileSync(FILE, `${JSON.stringify(present(), null, 2)}\n`);
const frozen = Frozen.parse(JSON.parse(readFileSync(FILE, 'utf8')));

test('the pin is of the version that the service writes', () => {
  const { format, version } = present();
  expect({ format, version }, ADVICE).toEqual({ format: frozen.format, version: frozen.version });
});

test.each(Object.entries(frozen.shapes))('the shape %s is the frozen one', (name, digest) => {
  expect(present().shapes[name], `${name}: ${ADVICE}`).toBe(digest);
});

test('no shape is in the published schemas that is not frozen', () => {
  expect(Object.keys(present().shapes).sort(), ADVICE).toEqual(Object.keys(frozen.shapes).sort());
});

test.each(Object.entries(frozen.checks))('the check %s exists, and counts as it did', (id, required) => {
  expect(present().checks[id], `${id}: ${ADVICE}`).toBe(required);
});

test('no check exists that is not frozen', () => {
  expect(Object.keys(present().checks).sort(), ADVICE).toEqual(Object.keys(frozen.checks).sort());
});
