import { expect, test } from 'vitest';
import { blocksOf } from '../../dashboard/src/ui/markdown-blocks.js';

const text = (value: string) => [{ kind: 'text', text: value }];

test('a text in Markdown has its headings, paragraphs, lists, quotations, code and lines', () => {
  const read = blocksOf(
    '# Cookies #\nWe count\nvisits.\n\n- one\n- two\n  and more\n1. first\n\n> quoted\n> too\n---\n```\n# no heading\n```',
  );
  expect(read).toEqual([
    { kind: 'heading', level: 1, children: text('Cookies') },
    { kind: 'paragraph', children: text('We count visits.') },
    { kind: 'list', isOrdered: false, items: [text('one'), text('two and more'), text('first')] },
    { kind: 'quote', children: text('quoted too') },
    { kind: 'line' },
    { kind: 'code', text: '# no heading' },
  ]);
});

test('words have their emphasis, and only an address of the web or of mail is a link', () => {
  const [block] = blocksOf('**Read *this*** or `a*b*` at [us](https://shop.example/a) [no](javascript:1) <b>x</b> 2*3');
  expect(block).toEqual({
    kind: 'paragraph',
    children: [
      {
        kind: 'strong',
        children: [
          { kind: 'text', text: 'Read ' },
          { kind: 'emphasis', children: text('this') },
        ],
      },
      { kind: 'text', text: ' or ' },
      { kind: 'code', text: 'a*b*' },
      { kind: 'text', text: ' at ' },
      { kind: 'link', href: 'https://shop.example/a', children: text('us') },
      { kind: 'text', text: ' ' },
      { kind: 'text', text: '[no](javascript:1)' },
      { kind: 'text', text: ' <b>x</b> 2*3' },
    ],
  });
});

test('a long text without an end of its emphasis is read without trying every way to end it', () => {
  // They are more than a computer can try.
  const blocks = blocksOf(`${'*a '.repeat(20_000)}\n\n${'[a]('.repeat(5_000)}`);
  expect(blocks.map(({ kind }) => kind)).toEqual(['paragraph', 'paragraph']);
});

// Each was quadratic: 65 s and more at these lengths. The test ends because the reader is linear.
test.each([
  ['# a', '#', 'x'],
  ['# ', ' ', 'x'],
  ['', '[', ''],
  ['', '[a](', ''],
  ['', '*a ', ''],
  ['', '**', 'a'],
  ['', '__a', ''],
])('reads %j with very many %j and %j', (before, repeated, after) => {
  const [block] = blocksOf(before + repeated.repeat(500_000) + after);
  expect(block).toBeDefined();
});
