import { readFileSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { sha256Hex } from '../../schemas/crypto/digest.js';
import { evidenceJsonSchema } from '../../schemas/evidence/json-schemas.js';
import { PACKAGE_FORMAT, PACKAGE_MAJOR, PACKAGE_MINOR } from '../../schemas/evidence/manifest.js';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import type { JsonValue } from '../../schemas/json/json-value.js';
import { CHECKS } from '../../verifier-cli/src/index.js';

/*
 * Every version of consent-ledger-evidence is frozen (docs/evidence-format.md §17, “Frozen parts”):
 * its packages must be verified in the same way for decades, by verifiers that others wrote.
 */

const Frozen = z.strictObject({
  format: z.string(),
  version: z.string(),
  /** SHA-256 of the canonical JSON Schema of each shape that the version added. */
  shapes: z.record(z.string(), z.string()),
  /** The checks that the version added, and whether the verdict requires them. */
  checks: z.record(z.string(), z.boolean()),
});
type Frozen = z.infer<typeof Frozen>;

const ADVICE =
  'A version of consent-ledger-evidence is frozen. Do not change this shape or check: add a new version beside it, as ' +
  'docs/evidence-format.md §17 (“Frozen parts”) says. Only a text in a schema (title, description) may change.';

const { $defs } = z.looseObject({ $defs: z.record(z.string(), z.json()) }).parse(evidenceJsonSchema());
const shapes = new Map(
  Object.entries($defs).map(([name, shape]) => [name, sha256Hex(canonicalJson(withoutTexts(shape)))]),
);
const checks = new Map(Object.entries(CHECKS).map(([id, { required }]) => [id, required]));

/** A schema without the texts for readers, which may change. A property of such a name is a schema, not a text. */
function withoutTexts(value: JsonValue | undefined): JsonValue {
  if (Array.isArray(value)) return value.map(withoutTexts);
  if (typeof value !== 'object' || value === null) return value ?? null;
  const kept = Object.entries(value).filter(
    ([name, member]) => typeof member !== 'string' || !['title', 'description'].includes(name),
  );
  return Object.fromEntries(kept.map(([name, member]) => [name, withoutTexts(member)]));
}

/** Each version has a file with what it added. */
const versions = Array.from({ length: PACKAGE_MINOR + 1 }, (_, minor) => `${PACKAGE_MAJOR}.${minor}`);
const fileOf = (version: string) => new URL(`frozen-${version}.json`, import.meta.url);
const read = (version: string): Frozen => Frozen.parse(JSON.parse(readFileSync(fileOf(version), 'utf8')));

if (process.env.UPDATE_FROZEN !== undefined) {
  const earlier = versions.slice(0, -1).map(read);
  const known = (kind: 'shapes' | 'checks') => new Set(earlier.flatMap((one) => Object.keys(one[kind])));
  const added = <T>(all: ReadonlyMap<string, T>, names: ReadonlySet<string>): Record<string, T> =>
    Object.fromEntries([...all].filter(([name]) => !names.has(name)));
  const newest: Frozen = {
    format: PACKAGE_FORMAT,
    version: versions.at(-1) ?? '',
    shapes: added(shapes, known('shapes')),
    checks: added(checks, known('checks')),
  };
  const anew = earlier.map((one) => ({
    ...one,
    shapes: Object.fromEntries(Object.keys(one.shapes).map((name) => [name, shapes.get(name) ?? ''])),
  }));
  for (const one of [...anew, newest]) writeFileSync(fileOf(one.version), `${JSON.stringify(one, null, 2)}\n`);
}

const frozen = versions.map(read);
const namesOf = (kind: 'shapes' | 'checks') => frozen.flatMap((one) => Object.keys(one[kind])).sort();

test('the pins are those of the versions that the verifier knows', () => {
  expect(
    frozen.map(({ format, version }) => ({ format, version })),
    ADVICE,
  ).toEqual(versions.map((version) => ({ format: PACKAGE_FORMAT, version })));
});

test.each(frozen.flatMap(({ version, shapes: pinned }) => Object.entries(pinned).map((pin) => [...pin, version])))(
  'the shape %s is the frozen one',
  (name, digest) => {
    expect(shapes.get(name), `${name}: ${ADVICE}`).toBe(digest);
  },
);

test('no shape is in the published schemas that is not frozen', () => {
  expect([...shapes.keys()].sort(), ADVICE).toEqual(namesOf('shapes'));
});

test.each(frozen.flatMap(({ checks: pinned }) => Object.entries(pinned)))(
  'the check %s exists, and counts as it did',
  (id, required) => {
    expect(checks.get(id), `${id}: ${ADVICE}`).toBe(required);
  },
);

test('no check exists that is not frozen', () => {
  expect([...checks.keys()].sort(), ADVICE).toEqual(namesOf('checks'));
});
