/**
 * Strict and canonical JSON (docs/evidence-format.md §2). The folder holds one or both of these:
 *
 * - `test_parsing` of github.com/nst/JSONTestSuite (commit 1ef36fa0): files whose names begin with y (right), n
 *   (wrong) or i (either);
 * - `testdata` of github.com/cyberphone/json-canonicalization (commit 19d51d7), with numbers of RFC 8785. Those of its
 *   appendix B are in test/format/canonical-json.test.ts.
 */
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { canonicalJson } from '../../schemas/json/canonical-json.js';
import { parseStrictJson, StrictJsonError } from '../../schemas/json/strict-json.js';

/** What the suite calls right and §2 forbids. */
const FORBIDDEN: ReadonlyMap<string, string> = new Map([
  ['y_object_duplicated_key.json', '§2: no member name twice in an object'],
  ['y_object_duplicated_key_and_value.json', '§2: no member name twice in an object'],
  ['y_object_escaped_null_in_key.json', '§2: no U+0000'],
  ['y_string_null_escape.json', '§2: no U+0000'],
  ['y_number.json', '§2: integers within ±(2^53 − 1)'],
  ['y_number_real_capital_e.json', '§2: integers within ±(2^53 − 1)'],
  ['y_number_real_exponent.json', '§2: integers within ±(2^53 − 1)'],
  ['y_number_real_fraction_exponent.json', '§2: integers within ±(2^53 − 1)'],
  ['y_object_extreme_numbers.json', '§2: integers within ±(2^53 − 1)'],
]);

/** Judges each text of the folder. */
export async function run(folder: string) {
  const [parsing, canonical] = [join(folder, 'test_parsing'), join(folder, 'testdata')];
  return [
    ...(existsSync(parsing) ? [parsed(parsing)] : []),
    ...(existsSync(canonical) ? [canonicalised(canonical)] : []),
  ];
}

const verdictOn = (title: string) => ({
  title, right: 0,
  wronglyAccepted: new Array<string>(), notAccepted: new Array<string>(), notApplicable: new Array<string>(),
});

function canonicalised(folder: string) {
  const verdict = verdictOn('RFC 8785 testdata');
  for (const name of readdirSync(join(folder, 'input'))) {
    const value = z.json().parse(JSON.parse(readFileSync(join(folder, 'input', name), 'utf8')));
    const expected = readFileSync(join(folder, 'output', name), 'utf8');
    if (canonicalJson(value) === expected) verdict.right += 1;
    else verdict.wronglyAccepted.push(name);
  }
  return verdict;
}

function parsed(files: string) {
  const verdict = verdictOn('JSONTestSuite');
  for (const name of readdirSync(files)) {
    const isAccepted = accepts(readFileSync(join(files, name)));
    const why = name.startsWith('i_') ? 'the suite leaves it to the parser' : FORBIDDEN.get(name);
    if (why !== undefined) verdict.notApplicable.push(`${name}: ${isAccepted ? 'read' : 'refused'}: ${why}`);
    else if (isAccepted === name.startsWith('y_')) verdict.right += 1;
    else (isAccepted ? verdict.wronglyAccepted : verdict.notAccepted).push(name);
  }
  return verdict;
}

function accepts(bytes: Uint8Array): boolean {
  try {
    parseStrictJson(bytes);
    return true;
  } catch (error) {
    if (error instanceof StrictJsonError) return false;
    throw error;
  }
}
