import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { describe, expect, test } from 'vitest';
import { ROOT } from './import-graph.js';
import { documentationPages, publicTexts } from './public-texts.js';
import { findRefusedWords, proseOfMarkdown, REFUSED_WORDS } from './refused-words.js';

/** Texts that have not been rewritten yet. The list only ever gets shorter. */

const texts = await publicTexts();

describe('public text', () => {
  test.each(texts)('$source contains no refused word', (text) => {
    const messages = findRefusedWords(text.text).map(
      ({ word, line, useInstead }) => `${text.source}, line ${line}: "${word}". Write: ${useInstead}.`,
    );
    expect(messages).toEqual([]);
  });

  test('comes from every kind of source', () => {
    const sources = texts.map(({ source }) => source);
    expect(sources).toEqual(
      expect.arrayContaining([
        'docs/architecture.md',
        'docs/examples/http/README.md',
        'dist/openapi/tool-api.json',
        'README.md',
        'ops/prometheus/alerts.yaml',
        'consent-ledger admin quarantine release --help',
        'consent-verify compare --help',
        'README.txt of an evidence package',
      ]),
    );
    expect(texts.filter(({ text }) => text.trim().length < 40)).toEqual([]);
  });

  test('of the command line includes the texts after the options', () => {
    expect(texts.find(({ source }) => source === 'consent-ledger --help')?.text).toContain('Exit codes:');
  });
});

test.each(documentationPages())('%s begins with what the reader can do after reading it', (page) => {
  const [, first = ''] = readFileSync(resolve(ROOT, page), 'utf8').split(/\n\n/);
  expect(first.replaceAll('\n', ' ')).toMatch(/^After reading this page,? you (?:can|know)\b/);
});

test.each(documentationPages())('%s wraps its prose at 100 columns', (page) => {
  const long = readFileSync(resolve(ROOT, page), 'utf8')
    .replaceAll(/^( *)(```|~~~)[\s\S]*?^ *\2/gm, (block) => block.replaceAll(/[^\n]/g, ''))
    .split('\n')
    // A row of a table cannot be wrapped, nor can a single long word; docs/schema.md lists definitions of the database.
    .filter((line) => line.length > 100 && !/^\||^- \w+ `|^\S+$/.test(line) && page !== 'docs/schema.md');
  expect(long).toEqual([]);
});

describe('the matcher', () => {
  test.each([
    ['The user has not the role that the route asks for.', 'has not the'],
    ['E-mail and password do not fit.', 'not fit'],
    ['There is one of this name already.', 'There is one of this'],
    ['Change the own password', 'the own'],
    ['Say for how long personal data of the site’s records is kept', 'Say for'],
    ['2 wrong usage or neither of both', 'neither of both'],
    ['"x" is no package, proof of a contradiction, certificate or key of a ledger: it was left aside.', 'left aside'],
    ['Nobody proves to own an address, as no mail is sent.', 'Nobody'],
    ['It is judged again by whoever holds the lock.', 'judged again', 'whoever'],
    ['Ask somebody, anybody or everybody.', 'somebody', 'anybody', 'everybody'],
    ['Nothing is sealed behind it.', 'behind'],
    ['The digest fits.', 'fits'],
    ['The relay parks the site; a parked site waits.', 'parks', 'parked'],
    ['The upkeep of the catalogue', 'upkeep', 'catalogue'],
    ['Time-stamps come from a time-stamp authority.', 'Time-stamps', 'time-stamp'],
    ['- What is published can never change.', 'What is'],
    ['Read it. What is older is erased.', 'What is'],
    ['The token is malformed, expired or not ours.', 'ours'],
  ])('refuses: %s', (text, ...words) => {
    expect(
      findRefusedWords(text)
        .map(({ word }) => word)
        .sort(),
    ).toEqual([...words].sort());
  });

  test.each([
    'The user does not have a role that this route requires.',
    'Wrong e-mail address or password.',
    'A resource with this name already exists.',
    'Change your password',
    'Set the site’s retention period',
    '2: usage error, or the file is neither a package nor a proof',
    '"x" was ignored: it is not a package, a contradiction proof, a certificate or a ledger key.',
    '`parentbased_*` samplers follow the caller’s `traceparent`; requests without one use the sampler that the suffix names.',
    'Preliminary decision on one consent, made before the transaction.',
    'E-mail addresses are not verified, because the service sends no mail.',
    'Document preconditions and errors of every exported function',
    'The service runs behind a proxy. Behind your own proxies, set TRUSTED_PROXIES.',
    'The API catalogue and the AI catalogue',
    'RFC 3161, Internet X.509 Public Key Infrastructure Time-Stamp Protocol (TSP)',
    'The package fits in memory. It states what is missing.',
  ])('accepts: %s', (text) => {
    expect(findRefusedWords(proseOfMarkdown(text))).toEqual([]);
  });

  test('finds each word of its table', () => {
    const samples =
      'nobody judged again, judged, behind, fits, parked, upkeep, catalogue, time-stamp. What is ours has not the; ' +
      'There is one of this, the own, neither of both, left aside. Say of it';
    for (const { pattern } of REFUSED_WORDS) expect(samples).toMatch(new RegExp(pattern.source, 'i'));
  });

  test('finds a phrase across a line break, and names its line', () => {
    expect(findRefusedWords('One.\n\nThe request is\njudged\nagain.')).toEqual([
      { word: 'judged again', line: 4, useInstead: 'evaluate again, reauthorize' },
    ]);
  });

  test('passes over code, identifiers and addresses, and keeps the numbers of lines', () => {
    const markdown =
      '# T\n\n```sh\nnobody fits\n```\n\n`time-stamps`, [x](time-stamps.md), https://example.org/time-stamps\nwhoever';
    expect(findRefusedWords(proseOfMarkdown(markdown)).map(({ word, line }) => ({ word, line }))).toEqual([
      { word: 'whoever', line: 8 },
    ]);
  });
});
