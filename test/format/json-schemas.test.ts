import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod';
import { evidenceJsonSchema } from '../../schemas/evidence/json-schemas.js';
import { PACKAGE_FILES } from '../../schemas/evidence/package-lines.js';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { buildPackage, type Files } from '../support/package-builder.js';

const FILE = new URL('../../verifier-cli/dist/evidence.schema.json', import.meta.url);
const Published = z.object({ $defs: z.record(z.string(), z.looseObject({})) });

test('the published schema is the one of the code', () => {
  expect(JSON.parse(readFileSync(FILE, 'utf8'))).toEqual(evidenceJsonSchema());
});

/** The JSON of a package, each with the name of its definition. */
function contentOf(files: Files): (readonly [definition: string, json: unknown])[] {
  const text = (name: string): string => new TextDecoder().decode(files.get(name));
  const lines = (name: string): unknown[] =>
    text(name)
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
  const found: (readonly [string, unknown])[] = [['manifest', JSON.parse(text(PACKAGE_FILES.manifest))]];
  const Line = z.object({ entry: z.string() });
  const Head = z.object({ header: z.string() });
  for (const line of lines(PACKAGE_FILES.entries)) {
    const entry = z.looseObject({ type: z.string(), record: z.unknown() }).parse(JSON.parse(Line.parse(line).entry));
    found.push(['entry_line', line], ['entry', entry], [entry.type, entry.record]);
  }
  for (const line of lines(PACKAGE_FILES.batches))
    found.push(['batch_line', line], ['batch_header', JSON.parse(Head.parse(line).header)]);
  for (const line of lines(PACKAGE_FILES.consistency)) found.push(['consistency_line', line]);
  for (const name of files.keys()) {
    if (name.startsWith('proofs/')) for (const line of lines(name)) found.push(['proof_line', line]);
    if (name.startsWith('tags/')) for (const line of lines(name)) found.push(['tag_line', line]);
  }
  return found;
}

/** Reads a JSON by a definition of the published file, with the file as it is. */
function validators(): (name: string) => z.ZodType {
  const { $defs } = Published.parse(JSON.parse(readFileSync(FILE, 'utf8')));
  return (name) => z.fromJSONSchema({ $defs, $ref: `#/$defs/${name}` });
}

test('every JSON of a package has the published form, and loses it with another member', () => {
  const validatorOf = validators();
  const content: ReturnType<typeof contentOf> = [];
  buildPackage(fixtureAuthority(), { signedFiles: (files) => void content.push(...contentOf(files)) });
  expect(new Set(content.map(([name]) => name)).size).toBeGreaterThan(12);
  for (const [name, json] of content) {
    const validator = validatorOf(name);
    expect(validator.safeParse(json).error, name).toBeUndefined();
    expect(validator.safeParse({ ...Object(json), unknown_member: 1 }).success, name).toBe(false);
  }
});

test('every reference within the published file leads to one of its definitions', () => {
  const text = readFileSync(FILE, 'utf8');
  const { $defs } = Published.parse(JSON.parse(text));
  const targets = [...text.matchAll(/"\$ref": "([^"]*)"/g)].map(([, target]) => target);
  expect(new Set(targets)).not.toEqual(new Set());
  const known = new Set(Object.keys($defs).map((name) => `#/$defs/${name}`));
  expect(targets.filter((target) => target === undefined || !known.has(target))).toEqual([]);
});
