import { createHash } from 'node:crypto';
import { expect, test } from 'vitest';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import { tr } from '../../verifier-cli/src/i18n/tr/index.js';
import { htmlPage, reportPage, terminalReport } from '../../verifier-cli/src/index.js';
import { renderHtml } from '../../verifier-cli/src/rendering/markup.js';
import { fixtureAuthority, VERIFIED_AT } from '../support/ledger-fixture.js';
import { buildPackage } from '../support/package-builder.js';
import { verifyFixture } from './support.js';

const authority = fixtureAuthority();

/** Texts that could run, load, move the cursor, or turn the reading direction. */
const HOSTILE = [
  '\u001b[2J\u001b[31m',
  '\u0000\u0007\u0085\u009b',
  '\u202e\u2066\u200f\u061c',
  '\u2028\u2029\ufeff\u{e0041}',
  '<script>alert(1)</script>',
  '<img src=x onerror=alert(1)>',
  '<svg onload=alert(1)><a href="javascript:alert(1)">',
  '"\'><style>*{display:none}</style><meta http-equiv="refresh" content="0;url=//evil.example">',
  '</pre></style></title>&lt;script&gt;',
];
const ALL = HOSTILE.join('');

const pageOf = (report: Parameters<typeof reportPage>[0]) =>
  htmlPage('Evidence of consent', 'en', reportPage(report, en));

/** Everything between tags, and the tags themselves, of a page that the verifier wrote. */
function tagsOf(html: string): readonly string[] {
  return [...html.matchAll(/<[^>]*>/g)].map(([tag]) => tag);
}

const ALLOWED_TAG =
  /^<\/?(?:!doctype html|html lang="en"|html|head|body|title|style|meta (?:charset|name|http-equiv)="[^"]*"(?: content="[^"]*")?|(?:main|article|header|section|nav|h[123]|p|strong|span|code|bdi|pre|ul|ol|li|dl|dt|dd|table|caption|thead|tbody|tr|th|td|details|summary|label|input|a(?: href="#section-\d+")?)(?: (?:class|lang|dir|scope|aria-hidden|open|type)="[a-z -]*"| id="section-\d+")*)>$/;

function expectHarmless(html: string): void {
  for (const tag of tagsOf(html)) expect(tag).toMatch(ALLOWED_TAG);
  expect(html.match(/<meta/g)).toHaveLength(4);
  expect(html.match(/<style>/g)).toHaveLength(1);
  for (const character of '\u001b\u0000\u0007\u0085\u009b\u202e\u2066\u200f\u061c\u2028\u2029\ufeff\u{e0041}')
    expect(html).not.toContain(character);
}

test('the words of the ledger’s structure stand in details that the reader opens', async () => {
  const withTrust = await verifyFixture(authority, buildPackage(authority));
  const withoutRoot = await verifyFixture(authority, buildPackage(authority), { trustAnchors: [] });
  for (const report of [withTrust, withoutRoot])
    for (const texts of [en, tr]) {
      const open = renderHtml(reportPage(report, texts)).replace(/<details>.*?<\/details>/gs, '');
      const plain = open.replace(/<code.*?<\/code>/g, '').replace(/<[^>]+>/g, ' ');
      expect(plain).not.toMatch(/revision|roll-up|checkpoint|stream|cosign|revizyon|denetim noktası|akış/i);
    }
  // One sentence says that a root is missing, and nothing that was not checked is called not proved.
  const page = pageOf(withoutRoot);
  expect(page.match(/root certificate of the time stamp authority/g)).toHaveLength(1);
  expect(page).not.toContain('<h2>Failed and open checks');
  expect(page).toContain('Not checked: no root certificate of a time stamp authority was given.');
});

test('the page lists what the package proves first, then what it does not prove, and shows the texts as source', async () => {
  const html = pageOf(await verifyFixture(authority, buildPackage(authority)));
  const order = [
    '<strong>Valid</strong>',
    'State of the ledger: 1 March 2026, 10:49 UTC.',
    'None of these 8 records was changed after it was stamped (the last of them by 1 March 2026, 10:49 UTC).',
    '<nav class="contents">',
    '<a href="#section-1">What the package proves</a>',
    '<h2>What the package proves',
    '<h2>What the package does not prove',
    '<h2>Proved times',
    'sound until',
    'Claimed by the service',
    '<h2>Checked package',
    '<h2>The texts consented to',
    '&lt;script&gt;alert(1)&lt;/script&gt;',
    'Çerezler',
    '<h2>All checks',
  ];
  const places = order.map((text) => html.indexOf(text));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
  expectHarmless(html);
});

test('the policy of the page allows its own style sheet and nothing else', async () => {
  const html = pageOf(await verifyFixture(authority, buildPackage(authority)));
  const style = /<style>([\s\S]*)<\/style>/.exec(html)?.[1] ?? '';
  const hash = createHash('sha256').update(style).digest('base64');
  expect(html).toContain(
    `content="default-src 'none'; style-src 'sha256-${hash}'; base-uri 'none'; form-action 'none'"`,
  );
  expect(style).not.toMatch(/url\(|@import|expression/);
});

test('a failed check is named at the top with its place, and nothing is said to be proved', async () => {
  const zip = buildPackage(authority, { signedFiles: (files) => files.set('README.txt', new Uint8Array(3)) });
  const html = pageOf(await verifyFixture(authority, zip));
  expect(html).toContain('Nothing as a whole, because a check failed.');
  expect(html).toContain('which may differ from the content of this package');
  expect(html.indexOf('What stands against it')).toBeLessThan(html.indexOf('All checks'));
  expect(html).toContain('README.txt: <bdi>the file was changed');
});

test('a development authority is called no evidence', async () => {
  const zip = buildPackage(authority, { manifest: (manifest) => ({ ...manifest, development: true }) });
  expect(pageOf(await verifyFixture(authority, zip))).toContain('Not evidence.');
});

test.each(HOSTILE.map((text) => [JSON.stringify(text), text]))(
  '%s in manifest, file names, notices and configuration neither runs nor loads',
  async (_, hostile) => {
    const zip = buildPackage(authority, {
      world: ({ batches }) => {
        for (const { record } of batches[0] ?? []) if ('title' in record) record.title = `T${hostile}`.slice(0, 100);
      },
      manifest: (manifest) => ({ ...manifest, exported_by: hostile, origin: `ledger${hostile}` }),
      signedFiles: (files) => files.set(`x${hostile}`, new Uint8Array()),
    });
    const report = await verifyFixture(authority, zip);
    expect(report.verdict).toBe('invalid');
    expectHarmless(pageOf(report));
    expect(terminalReport(report, en)).toMatch(/^INVALID/);
  },
);

test('no text of a report changes the structure of the page', async () => {
  const report = await verifyFixture(authority, buildPackage(authority));
  const hostile = (value: unknown): unknown => {
    if (typeof value === 'string') return `${value}${ALL}`;
    if (Array.isArray(value)) return value.map(hostile);
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(
      Object.entries(value).map(([name, member]) => [
        name,
        ['outcome', 'code', 'not_after'].includes(name) ? member : hostile(member),
      ]),
    );
  };
  const kept = { verdict: report.verdict, checks: report.checks };
  const altered = Object.assign(structuredClone(report), hostile(report), kept);
  const problems = report.checks.map((check) => ({
    ...check,
    message: ALL,
    outcome: 'fail' as const,
    problems: [{ outcome: 'fail' as const, message: ALL, file: ALL, line: 1, stream: ALL, revision: 1, event_id: ALL }],
  }));
  expectHarmless(pageOf(altered));
  expectHarmless(pageOf({ ...altered, checks: problems }));
  expect(altered.verified_at).not.toBe(VERIFIED_AT.toISOString());
});

test('a document full of hostile text is shown as escaped source, line by line', async () => {
  const zip = buildPackage(authority, {
    world: (world) => {
      const text = new TextEncoder().encode(`# Title\n${ALL}\n\tend`);
      const hashOf = (content: Uint8Array) => createHash('sha256').update(content).digest('hex');
      const hash = hashOf(text);
      const replaced = new Set(
        world.batches.flat().flatMap(({ record }) => (record.language === 'en' ? record.content_sha256 : [])),
      );
      Object.assign(world, { texts: [...world.texts.filter((one) => !replaced.has(hashOf(one))), text] });
      for (const event of world.batches.flat()) {
        const { record } = event;
        if (record.language !== 'en') continue;
        if ('content_sha256' in record) record.content_sha256 = hash;
        if ('document_hash' in record) record.document_hash = hash;
      }
    },
  });
  const report = await verifyFixture(authority, zip);
  expect(report.verdict).toBe('valid');
  const html = pageOf(report);
  expectHarmless(html);
  expect(html).toContain('# Title\n\\u{1b}[2J');
  expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;');
  expect(html).toContain('\n\tend</pre>');
});

test('a terminal gets names of keys, and a count of the checks that do not apply, unless it asks for all', async () => {
  const report = await verifyFixture(authority, buildPackage(authority));
  const [short, long] = [terminalReport(report, en), terminalReport(report, en, true)];
  const [key = ''] = report.trust.ledger_keys;
  expect(long).toContain(`${key}\n`);
  expect(short).not.toContain(key);
  expect(short).toContain(`${key.slice(0, key.lastIndexOf('+', key.indexOf('+') + 9))}\n`);
  const left = report.checks.filter(({ outcome }) => outcome === 'not-applicable');
  expect(left.length).toBeGreaterThan(1);
  expect(short).toContain(`– ${left.length} checks do not apply to this package`);
  for (const { id } of left) expect([short.includes(`– ${id} `), long.includes(`– ${id} `)]).toEqual([false, true]);
});
