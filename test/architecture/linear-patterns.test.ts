import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { RegExpParser } from '@eslint-community/regexpp';
import { parse, tokTypes } from 'acorn';
import { transformSync } from 'esbuild';
import { analyse } from 'scslre';
import { expect, test } from 'vitest';
import { ROOT, sourceFiles } from './import-graph.js';

/** Patterns that a file makes from others; their parts are checked as literals, and the whole was read by hand. */
const MADE: ReadonlySet<string> = new Set(['schemas/crypto/proof-of-work.ts']);

const SOURCES = ['src', 'schemas', 'projections', 'sdk', 'verifier-cli', 'dashboard/src'];

interface Pattern {
  readonly file: string;
  /** The literal with its flags; null for one that is made at run time. */
  readonly literal: string | null;
}

/** Where a literal can begin; most files have no such place, and need no parser. */
const MAYBE = /[=(,:!&|?[{};\s]\/(?![/*\s])|\bRegExp\(/;

function patternsOf(file: string, text: string): readonly Pattern[] {
  if (!MAYBE.test(text)) return [];
  const { code } = transformSync(text, { loader: file.endsWith('x') ? 'tsx' : 'ts' });
  const found: Pattern[] = [];
  parse(code, {
    ecmaVersion: 'latest',
    sourceType: 'module',
    onToken: ({ type, start, end }) => {
      if (type === tokTypes.regexp) found.push({ file, literal: code.slice(start, end) });
      else if (code.startsWith('RegExp(', start)) found.push({ file, literal: null });
    },
  });
  return found;
}

/** Why the time of a pattern can grow faster than the text that it meets; nothing if it cannot. */
function faults(literal: string): readonly string[] {
  const { reports } = analyse(new RegExpParser().parseLiteral(literal));
  return [...new Set(reports.map(({ exponential }) => `${exponential ? 'exponential' : 'polynomial'}: ${literal}`))];
}

test('no pattern takes more than linear time, whatever text it meets', () => {
  const files = SOURCES.flatMap(sourceFiles).filter((file) => !file.endsWith('.d.ts'));
  const patterns = files.flatMap((file) => patternsOf(file, readFileSync(resolve(ROOT, file), 'utf8')));
  expect(patterns.length).toBeGreaterThan(300);
  const wrong = patterns.flatMap(({ file, literal }) =>
    literal === null
      ? MADE.has(file)
        ? []
        : [`${file} makes a pattern`]
      : faults(literal).map((one) => `${file}: ${one}`),
  );
  expect(wrong).toEqual([]);
});

test('the check sees the shapes that are not linear', () => {
  for (const literal of ['/=+$/', '/^(?:a+)+$/', '/^(#{1,6})\\s+(.*?)\\s*#*$/', '/[ "]*=/g']) {
    expect(faults(literal), literal).not.toEqual([]);
  }
});
