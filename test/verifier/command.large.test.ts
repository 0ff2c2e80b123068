import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { fixtureAuthority, LEDGER_KEY, ORIGIN, VERIFIED_AT } from '../support/ledger-fixture.js';
import { buildPackage } from '../support/package-builder.js';
import { testSigningKey } from '../support/signing-key.js';

const AT = VERIFIED_AT.toISOString();
const authority = fixtureAuthority();
const folder = mkdtempSync(join(tmpdir(), 'consent-verify-command-'));
const file = (name: string) => join(folder, name);
let command = '';

/**
 * The package as a stranger gets it: packed, and installed in an empty folder without a network.
 */
beforeAll(() => {
  const source = fileURLToPath(new URL('../../verifier-cli', import.meta.url));
  // `npm test` has built it; a build here would pull the bundle from under other tests that run it.
  if (!existsSync(join(source, 'dist/consent-verify.js'))) execFileSync('npm', ['run', '-s', 'build'], { cwd: source });
  execFileSync('npm', ['pack', '--silent', '--ignore-scripts', '--pack-destination', folder], { cwd: source });
  const tarball = readdirSync(folder).find((name) => name.endsWith('.tgz')) ?? '';
  const installed = file('installed');
  mkdirSync(installed);
  execFileSync('npm', ['install', '--silent', '--offline', '--no-audit', '--no-fund', file(tarball)], {
    cwd: installed,
  });
  expect(readdirSync(join(installed, 'node_modules')).filter((name) => !name.startsWith('.'))).toEqual([
    '@consent-ledger',
  ]);
  expect(readdirSync(join(installed, 'node_modules/@consent-ledger/verify/dist'))).toEqual(
    expect.arrayContaining(['THIRD-PARTY-NOTICES.txt', 'evidence.schema.json', 'report.schema.json']),
  );
  command = join(installed, 'node_modules/.bin/consent-verify');

  writeFileSync(file('package.zip'), buildPackage(authority));
  writeFileSync(
    file('changed.zip'),
    buildPackage(authority, { signedFiles: (files) => files.set('README.txt', new Uint8Array(3)) }),
  );
  writeFileSync(
    file('development.zip'),
    buildPackage(authority, { manifest: (manifest) => ({ ...manifest, development: true }) }),
  );
  writeFileSync(file('root.der'), authority.root.der);
  const pem = Buffer.from(authority.root.der).toString('base64').replace(/.{64}/g, '$&\n');
  const block = `-----BEGIN CERTIFICATE-----\n${pem}\n-----END CERTIFICATE-----\n`;
  writeFileSync(file('roots.pem'), `A comment\n${block}${block}`);
  writeFileSync(file('ledger.key'), `# the ledger\n\n${LEDGER_KEY.verifierKey}\n`);
  writeFileSync(file('trust'), `# The regulator's\nlog ${LEDGER_KEY.verifierKey}\nquorum none\n${block}`);
  writeFileSync(file('trust-cut'), `log ${LEDGER_KEY.verifierKey}\nquorum W\n`);
  writeFileSync(file('other.key'), `${testSigningKey(ORIGIN, 'another').verifierKey}\n`);
});

afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: readonly string[]) {
  return spawnSync(command, args, { encoding: 'utf8', cwd: folder });
}

const TRUST = ['--tsa-ca', 'roots.pem', '--ledger-key', 'ledger.key', '--at', AT];

test('0 for a valid package, with roots in PEM or DER, options repeated', () => {
  const result = run('check', 'package.zip', ...TRUST, '--tsa-ca', 'root.der', '--ledger-key', 'other.key');
  expect(result.stderr).toBe('');
  expect(result.status).toBe(0);
  expect(result.stdout).toMatch(/^VALID/);
  expect(result.stdout).toContain('2026-03-01T10:49:00.000Z');
});

test('--json prints one object and nothing else', () => {
  const result = run('check', 'package.zip', ...TRUST, '--json');
  const report: unknown = JSON.parse(result.stdout);
  expect(report).toMatchObject({ verdict: 'valid', records: { consents: 8 } });
  expect(report).toHaveProperty(
    'checks[0]',
    expect.objectContaining({ id: 'container.structure', outcome: 'pass', message: expect.any(String) }),
  );
});

test('--person asks whose package it is: that of a whole site is of no one person', () => {
  const { status, stdout } = run('check', 'package.zip', ...TRUST, '--person', 'visitor of c2');
  expect(status).toBe(3);
  expect(stdout).toContain('you asked about a person, and the package is not for one person');
  // The list selects by the value, and does not ask.
  expect(run('list', 'package.zip', ...TRUST, '--person', 'visitor of c2').status).toBe(0);
});

test('--version prints the version of the package, which every report names', () => {
  const manifest = readFileSync(new URL('../../verifier-cli/package.json', import.meta.url), 'utf8');
  const { version } = z.object({ version: z.string() }).parse(JSON.parse(manifest));
  expect(run('--version').stdout).toBe(`${version}\n`);
  expect(JSON.parse(run('check', 'package.zip', ...TRUST, '--json').stdout)).toMatchObject({
    verifier: { name: 'consent-verify', version },
    package: { site: { domain: 'shop.example', controller: expect.any(String) } },
  });
  expect(run('check', 'package.zip', ...TRUST).stdout).toContain(`consent-verify ${version}`);
});

test('list prints the consents as a table, CSV or JSON, all or those of one person', () => {
  const table = run('list', 'package.zip', ...TRUST);
  expect({ status: table.status, stderr: table.stderr }).toEqual({ status: 0, stderr: '' });
  expect(table.stdout).toMatch(/^VALID, as of/);
  expect(table.stdout).toContain('8 consents of 8 in the package.');
  const rows = run('list', 'package.zip', ...TRUST, '--csv')
    .stdout.trimEnd()
    .split('\r\n');
  expect(rows).toHaveLength(9);
  const one: unknown = JSON.parse(run('list', 'package.zip', ...TRUST, '--json', '--person', 'VISITOR of c2').stdout);
  expect(one).toEqual([
    expect.objectContaining({
      verdict: 'valid',
      disclosed: expect.objectContaining({ visitor_id: 'visitor of c2' }),
    }),
  ]);
  const changed = run('list', 'changed.zip', ...TRUST, '--csv');
  expect(changed.status).toBe(1);
  expect(changed.stderr).toContain('the package is INVALID');
  expect(run('list', 'package.zip', ...TRUST, '--csv', '--json').status).toBe(2);
});

test.each([['--csv'], ['--json']])('list %s warns of a development stamp, although the package is valid', (form) => {
  const result = run('list', 'development.zip', ...TRUST, form);
  expect(result.status).toBe(0);
  expect(result.stderr).toContain('the package is VALID, BUT NOT EVIDENCE');
  expect(run('list', 'package.zip', ...TRUST, form).stderr).toBe('');
});

test('--html writes the verdict first, and the records', () => {
  run('check', 'package.zip', ...TRUST, '--html', 'report.html');
  const html = readFileSync(file('report.html'), 'utf8');
  const order = ['None of these 8 records was changed after', '<h2>Records', '<caption>8 records', '58 checks passed'];
  const places = order.map((text) => html.indexOf(text));
  expect(places).not.toContain(-1);
  expect(places).toEqual(places.toSorted((a, b) => a - b));
});

test('1 for an invalid package', () => {
  const result = run('check', 'changed.zip', ...TRUST);
  expect(result.status).toBe(1);
  expect(result.stdout).toMatch(/^INVALID/);
  expect(result.stdout).toContain('README.txt');
});

test('exits with 3 without keys, and names the missing options', () => {
  const result = run('check', 'package.zip', '--at', AT);
  expect(result.status).toBe(3);
  expect(result.stdout).toContain('--tsa-ca');
  expect(result.stdout).toContain('--ledger-key');
});

test('--require-stamps decides how many authorities must have stamped', () => {
  expect(run('check', 'package.zip', ...TRUST, '--require-stamps', '1').status).toBe(0);
  const two = run('check', 'package.zip', ...TRUST, '--require-stamps', '2');
  expect(two.status).toBe(3);
  expect(two.stdout).toContain('valid time stamps of 1 distinct authority cover the entry: 2 are required');
});

test('--max-delay can only tighten the policy, and --max-age limits the age of the state', () => {
  expect(run('check', 'package.zip', ...TRUST, '--max-delay', '60s').status).toBe(3);
  expect(run('check', 'package.zip', ...TRUST, '--max-delay', '2d').status).toBe(0);
  expect(run('check', 'package.zip', ...TRUST, '--max-age', '1h').status).toBe(3);
  expect(run('check', 'package.zip', ...TRUST, '--max-age', '9999d').status).toBe(0);
});

test('--trust gives keys, witnesses and roots in one file, of which a problem is named with its line', () => {
  const checked = run('check', 'package.zip', '--trust', 'trust', '--at', AT);
  expect({ stderr: checked.stderr, status: checked.status }).toEqual({ stderr: '', status: 0 });
  expect(checked.stdout).toMatch(/^VALID/);
  expect(run('compare', 'package.zip', 'package.zip', '--trust', 'trust').status).toBe(0);
  const cut = run('check', 'package.zip', '--trust', 'trust-cut');
  expect({ stdout: cut.stdout, status: cut.status }).toEqual({ stdout: '', status: 2 });
  expect(cut.stderr).toContain('trust-cut is not a trust policy (c2sp.org/tlog-policy): line 2: no earlier line');
  for (const option of [
    ['--ledger-key', 'ledger.key'],
    ['--witness-key', 'w'],
    ['--witnesses', '1'],
  ])
    expect(run('check', 'package.zip', '--trust', 'trust', ...option).stderr).toContain('leave out --ledger-key');
});

test.each([
  ['no command', []],
  ['an unknown command', ['verify', 'package.zip']],
  ['no package', ['check']],
  ['an unknown option', ['check', 'package.zip', '--force']],
  ['a file that is not there', ['check', 'missing.zip']],
  ['a folder', ['check', '.']],
  ['a file that is no ZIP', ['check', 'ledger.key']],
  ['a root that is no certificate', ['check', 'package.zip', '--tsa-ca', 'ledger.key']],
  ['a key file without a key', ['check', 'package.zip', '--ledger-key', 'roots.pem']],
  ['no stamp required', ['check', 'package.zip', '--require-stamps', '0']],
  ['more stamps required than a checkpoint can have', ['check', 'package.zip', '--require-stamps', '10']],
  ['a wrong duration', ['check', 'package.zip', '--max-delay', '1 day']],
  ['a wrong time', ['check', 'package.zip', '--at', 'yesterday']],
])('2 for %s', (_, args) => {
  const result = run(...args);
  expect(result.status).toBe(2);
  expect(result.stdout).toBe('');
  expect(result.stderr).not.toBe('');
  expect(result.stderr).not.toMatch(/\n\s+at /);
});

test('explain prints the rule of one check, of a group, or says that there is no such check', () => {
  const one = run('explain', 'tst.path');
  expect(one.stdout).toMatch(/^tst\.path \(not required\)\n {2}At the time of the stamp.*\n {2}Fails: .*RFC 5280/);
  expect(one.status).toBe(0);
  const group = z.array(z.object({ id: z.string() })).parse(JSON.parse(run('explain', 'batch', '--json').stdout));
  expect(group.map(({ id }) => id)).toEqual(['batch.header', 'batch.inclusion', 'batch.streams', 'batch.tags']);
  const none = run('explain', 'tst.paths');
  expect(none.stderr).toContain('there is no check “tst.paths”');
  expect({ status: none.status, stdout: none.stdout }).toEqual({ status: 2, stdout: '' });
});
