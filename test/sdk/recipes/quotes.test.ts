import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

const DOCS = new URL('../../../docs/', import.meta.url);
const page = readFileSync(new URL('ten-minutes.md', DOCS), 'utf8');

/** A text without indentation, and without what surrounds a quoted line: a page quotes a part of a file at its own depth. */
const partOf = (text: string): string => text.replaceAll(/^[ \t]+/gm, '').trim();

/** The parts of the page that quote: each with its blocks of code but commands, and the files that it names at its end. */
const PARTS = page.split(/^## /m).flatMap((part) => {
  const blocks = [...part.matchAll(/^```(?!sh)\w+\n([\s\S]*?)^```$/gm)].map(([, code = '']) => code);
  const files = [...part.matchAll(/\]\((examples\/[^)]*\.\w+)\)/g)].map(([, file = '']) => file);
  return blocks.length === 0 ? [] : [{ heading: part.split('\n')[0] ?? '', blocks, files }];
});

test.each(PARTS)('“$heading” quotes its files', ({ blocks, files }) => {
  const texts = files.map((file) => partOf(readFileSync(new URL(file, DOCS), 'utf8')));
  for (const block of blocks)
    expect(
      texts.filter((text) => text.includes(partOf(block))),
      block,
    ).not.toEqual([]);
});

test('the page has a recipe for each example of a page', () => {
  // The others are of backends and apps, and of docs/tag-manager-and-wordpress.md.
  const others = /\.|^(?:data-copy|devices|eventstoredb|http|import|react-native|tag-manager|wordpress)$/;
  const isOfPages = (name: string) => !others.test(name);
  const examples = readdirSync(new URL('examples', DOCS)).filter(isOfPages);
  const quoted = PARTS.flatMap(({ files }) => files.map((file) => file.split('/')[1]));
  expect(examples.filter((name) => !quoted.includes(name))).toEqual([]);
});
