import { expect, test } from 'vitest';
import { gapProblem, gapsIn } from '../../schemas/text/gaps.js';

test.each([
  ['[[who: name of the controller]] sells bread.', ['[[who: name of the controller]]']],
  ['[[who: Name]] und [[who: Name]], [[periods:Dauer]]', ['[[who: Name]]', '[[periods:Dauer]]']],
  // A gap of which a part was deleted is still a gap.
  ['[[contact: how people reach you]', ['[[contact: how people reach you]']],
  ['[[rights: which\nrights', ['[[rights: which']],
  ['<p>[[recipients:</p>', ['[[recipients:</p>']],
  ['[[what: a [[who: b]]', ['[[what: a ', '[[who: b]]']],
  // An editor escaped the brackets, or changed a capital or a space.
  ['\\[\\[who: x\\]\\]', ['\\[\\[who: x\\]']],
  ['[[Who: x]] [[who : y]] [[ what: z]]', ['[[Who: x]]', '[[who : y]]', '[[ what: z]]']],
])('the gaps of %j are found', (text, gaps) => {
  expect(gapsIn(text)).toEqual(gaps);
});

test.each([
  'No gap.',
  'A link to [[Wiki page]], [[whoever: x]] and an array a[b[who]]',
  'The mark of a gap is [&#91;who: …]] in HTML and [ [who: …]] in plain text.',
  '[who: one bracket]',
])('%j has no gap', (text) => {
  expect(gapsIn(text)).toEqual([]);
});

test('a message names six gaps at most', () => {
  const gaps = Array.from({ length: 8 }, (_, index) => `[[who: ${index}]]`);
  expect(gapProblem(gaps.slice(0, 6))).not.toContain('…');
  expect(gapProblem(gaps)).toBe(
    'has gaps that are not filled in: [[who: 0]], [[who: 1]], [[who: 2]], [[who: 3]], [[who: 4]], [[who: 5]], …',
  );
});
