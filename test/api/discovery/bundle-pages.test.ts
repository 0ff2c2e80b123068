import { expect, it } from 'vitest';
import { bundlePages } from '../../../src/api/discovery/bundle-pages.js';

const FILES: Readonly<Record<string, string>> = {
  'docs/a.md': [
    '# A',
    'To [`b`](b.md#part), [itself](#a), [others](https://x.example/), [no page](c.md), [code](../src/main.ts)',
    'and [an example](examples/http/e.js) of [many](examples/http).',
    '```md',
    '[c](c.md)',
    '```',
  ].join('\n'),
  'docs/b.md': '# B\n',
  'docs/examples/http/e.js': 'e[0](c.md)',
};

it('keeps the links among what is served, and the words of others', () => {
  const skill = { path: '/skills/s/SKILL.md', text: 'see [t](../t/SKILL.md)\n' };
  const bundle = bundlePages(['/docs/a.md', '/docs/b.md'], [skill], (file) => FILES[file] ?? '');
  const a = [
    '# A',
    'To [`b`](/docs/b.md#part), [itself](#a), [others](https://x.example/), no page, code',
    'and [an example](/docs/examples/http/e.js) of many.',
    '```md',
    '[c](c.md)',
    '```',
  ].join('\n');
  expect(bundle).toEqual({
    '/docs/a.md': a,
    '/docs/b.md': '# B\n',
    '/docs/examples/http/e.js': 'e[0](c.md)',
    '/llms-full.txt': `see [t](/skills/t/SKILL.md)\n\n---\n\n${a}\n\n---\n\n# B\n`,
  });
});
