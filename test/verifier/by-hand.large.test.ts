import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consentToken } from '../../schemas/events/consent-recorded.js';
import { Manifest } from '../../schemas/evidence/manifest.js';
import { packageReadme } from '../../src/evidence/package/readme.js';
import { fixtureAuthority, LEDGER_KEY, NEXT_LEDGER_KEY, ORIGIN, VERIFIED_AT } from '../support/ledger-fixture.js';
import { fixtureDisclosure, fixtureUuid } from '../support/ledger-fixture-events.js';
import { titleNeeding } from '../support/missing-tools.js';
import { hasOpenssl } from '../support/openssl-tsa.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { testSigningKey } from '../support/signing-key.js';
import { disclosing, event } from './attacks/attack.js';
import { stating } from './attacks/in-force-attacks.js';
import { hasPython, SCRIPT } from './by-hand.js';

const authority = fixtureAuthority();
const other = fixtureAuthority();

test('the script uses the standard library alone', () => {
  const imports = [...readFileSync(SCRIPT, 'utf8').matchAll(/^(?:import|from) (.*)$/gm)].map(([, names]) => names);
  expect(imports).toEqual([
    'argparse, base64, bisect, calendar, decimal, functools, hashlib, json, os, re, struct, subprocess, sys, tempfile, time, unicodedata, zlib',
  ]);
});

const hasUnzip = spawnSync('unzip', ['-v']).status === 0;

describe.skipIf(!hasUnzip || !hasOpenssl)(
  titleNeeding(
    'unzip or openssl',
    hasUnzip && hasOpenssl,
    'the signature over a checkpoint, by the commands of README.txt',
  ),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'consent-by-readme-'));
    afterAll(() => rmSync(folder, { recursive: true }));

    /** Runs the second step of the README of such a package, and says what it prints. */
    function run(hooks: PackageHooks, key: string): string {
      const place = mkdtempSync(join(folder, 'package-'));
      writeFileSync(join(place, 'package.zip'), buildPackage(authority, hooks));
      spawnSync('unzip', ['-q', 'package.zip'], { cwd: place });
      writeFileSync(join(place, 'ledger.key'), `a line of something else\n${key}\n`);
      const manifest = Manifest.parse(JSON.parse(readFileSync(join(place, 'manifest.json'), 'utf8')));
      const checkpoint = { size: manifest.checkpoint ?? 0, stamps: [{ genTime: new Date(0), authority: 'any' }] };
      const readme = packageReadme({ manifest, checkpoint, example: null, site: null, verifier: null });
      const step = readme.slice(readme.indexOf('\n2. '), readme.indexOf('\n3. '));
      const commands = [...step.matchAll(/^ {4}(.*)$/gm)].map(([, line]) => line).join('\n');
      const env = { ...process.env, LEDGER_KEY: 'ledger.key', T: place };
      return spawnSync('bash', ['-c', `set -u\n${commands}`], { cwd: place, env, encoding: 'utf8' }).stdout;
    }
    const SIGNED = "the ledger's key has signed checkpoint 5";
    const stranger = testSigningKey('someone.example', 'cosigner');

    test('it is found right, also beside signatures of others', () => {
      expect(run({}, LEDGER_KEY.verifierKey)).toContain(`${SIGNED}\n${ORIGIN}\n5\n`);
      const cosigned: PackageHooks = {
        note: (note) => note.replace('\n\n', `\n\n${stranger.signatureLine(`${note.split('\n\n')[0]}\n`)}`),
      };
      expect(run(cosigned, LEDGER_KEY.verifierKey)).toContain(SIGNED);
      expect(run(cosigned, stranger.verifierKey)).toContain(SIGNED);
    });

    test('the old key and the new one serve after a rotation', () => {
      expect(run({ rotateAt: 4 }, LEDGER_KEY.verifierKey)).toContain(SIGNED);
      expect(run({ rotateAt: 4 }, NEXT_LEDGER_KEY.verifierKey)).toContain(SIGNED);
    });

    test('it is refused by another key, of another text, and where the checkpoint of both keys lacks a signature', () => {
      expect(run({}, NEXT_LEDGER_KEY.verifierKey)).toContain('bears no signature by this key');
      expect(run({}, testSigningKey(ORIGIN, 'made up').verifierKey)).not.toContain(SIGNED);
      const changed = run({ note: (note) => note.replace('\n5\n', '\n6\n') }, LEDGER_KEY.verifierKey);
      expect(changed).toContain('Signature Verification Failure');
      expect(changed).not.toContain(SIGNED);
      const withoutNew: PackageHooks = {
        rotateAt: 4,
        note: (note, size) => (size === 4 ? note.trimEnd().split('\n').slice(0, -1).join('\n').concat('\n') : note),
      };
      expect(run(withoutNew, LEDGER_KEY.verifierKey)).not.toContain(SIGNED);
    });
  },
);

describe.skipIf(!hasPython || !hasOpenssl)(
  titleNeeding('Python 3.9 or openssl', hasPython && hasOpenssl, 'verifier-cli/by-hand/verify.py'),
  () => {
    const folder = mkdtempSync(join(tmpdir(), 'consent-by-hand-'));
    const file = (name: string) => join(folder, name);

    beforeAll(() => {
      for (const [name, { root }] of [
        ['root.pem', authority],
        ['other.pem', other],
      ] as const) {
        const body = Buffer.from(root.der).toString('base64').replace(/.{64}/g, '$&\n');
        writeFileSync(file(name), `-----BEGIN CERTIFICATE-----\n${body}\n-----END CERTIFICATE-----\n`);
      }
      writeFileSync(file('ledger.key'), `${LEDGER_KEY.verifierKey}\n`);
      writeFileSync(file('next.key'), `${NEXT_LEDGER_KEY.verifierKey}\n`);
    });
    afterAll(() => rmSync(folder, { recursive: true }));

    function run(hooks: PackageHooks, record: string, key = 'ledger.key', root = 'root.pem') {
      writeFileSync(file('package.zip'), buildPackage(authority, hooks));
      const trust = ['--ledger-key', file(key), '--tsa-ca', file(root)];
      const { status, stdout, stderr } = spawnSync('python3', [SCRIPT, file('package.zip'), record, ...trust], {
        encoding: 'utf8',
      });
      expect(stderr).toBe('');
      return { status, stdout };
    }

    test.each(['paths', 'leaves'] as const)('confirms records, with proofs as %s', (proofForm) => {
      const { status, stdout } = run({ proofForm }, consentToken(fixtureUuid('c3')));
      expect(stdout).toContain('CONFIRMED');
      expect(stdout).toContain('7. it existed by 2026-03-01T10:19:00Z');
      expect(stdout).toContain('"visitor_id": "visitor of c3"');
      expect(status).toBe(0);
    });

    test.each([
      ['a date that does not exist', ['--at', '2026-02-30T08:00:00Z'], 'is not a time'],
      ['an age that is no number', ['--max-age', 'old'], 'is not a number of hours'],
      ['a promise that does not exist', ['--promise', 'none.json'], 'there is no file'],
      ['a key file without a key', ['--ledger-key', 'root.pem'], 'has no key'],
    ])('refuses %s as wrong usage, without a verdict', (_, options, message) => {
      writeFileSync(file('package.zip'), buildPackage(authority, {}));
      const trust = ['--ledger-key', file('ledger.key'), '--tsa-ca', file('root.pem')];
      const inFolder = options.map((option) => (option.endsWith('.pem') ? file(option) : option));
      const { status, stdout, stderr } = spawnSync(
        'python3',
        [SCRIPT, file('package.zip'), '--all', ...trust, ...inFolder],
        { encoding: 'utf8' },
      );
      expect(stderr.replaceAll(/\s+/g, ' ')).toContain(message);
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    });

    test('reads a time of verification without a fraction of a second', () => {
      writeFileSync(file('package.zip'), buildPackage(authority, {}));
      const trust = ['--ledger-key', file('ledger.key'), '--tsa-ca', file('root.pem')];
      const at = VERIFIED_AT.toISOString().replace('.000Z', 'Z');
      const { status, stderr } = spawnSync('python3', [SCRIPT, file('package.zip'), '--all', ...trust, '--at', at], {
        encoding: 'utf8',
      });
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
    });

    test('confirms an erasure, and the last record', () => {
      expect(run({}, fixtureUuid('e0')).status).toBe(0);
      expect(run({}, fixtureUuid('c7')).stdout).toContain('7. it existed by 2026-03-01T10:49:00Z');
    });

    /** `[salt, "visitor_id", "mallory"]` */
    const NOT_COMMITTED = Buffer.from(JSON.stringify(['A'.repeat(22), 'visitor_id', 'mallory'])).toString('base64url');
    const replaced: PackageHooks['entryLines'] = (lines) =>
      lines.map((line) => ({
        ...line,
        entry: String(line.entry).replace('"decision":"accepted"', '"decision":"rejected"'),
      }));

    test.each<[string, PackageHooks, string]>([
      ['a changed entry', { entryLines: replaced }, 'is not in its batch'],
      [
        'a changed file',
        { signedFiles: (files) => files.set('README.txt', new Uint8Array(2)) },
        'README.txt was changed',
      ],
      [
        'a file too many',
        { signedFiles: (files) => files.set('extra', new Uint8Array(2)) },
        'no package contains a file extra',
      ],
      ['a missing file', { signedFiles: (files) => files.delete('README.txt') }, 'README.txt is missing'],
      [
        'a value that is not the record’s',
        { entryLines: (lines) => lines.map((line) => ({ ...line, disclosures: [NOT_COMMITTED] })) },
        'does not commit to a disclosed value',
      ],
      [
        'another index',
        { entryLines: (lines) => lines.map((line) => ({ ...line, index: Number(line.index) + 1 })) },
        'not in its batch',
      ],
      [
        'a note that was changed',
        { note: (note) => note.replace('ledger.example/consents\n', 'ledger.example/consents2\n') },
        'is of another ledger or size',
      ],
      ['a token over something else', { token: () => ({ data: new Uint8Array([1]) }) }, 'the time stamp is invalid'],
      [
        'a certificate that was changed',
        { certificate: (note) => note.replace('v1', 'v2') },
        'signature by the ledger key is invalid',
      ],
      ['a manifest that is no JSON', { manifest: () => 'x' }, ''],
      [
        'a root of another ledger',
        { checkpoint: (checkpoint) => ({ ...checkpoint, root: new Uint8Array(32) }) },
        'does not extend checkpoint',
      ],
      [
        'a consistency proof that leads elsewhere',
        {
          consistencyLines: (lines) =>
            lines.map((line) => ({ ...line, path: [...(Array.isArray(line.path) ? line.path : []), '00'.repeat(32)] })),
        },
        'consistency proof is too long',
      ],
    ])('refuses %s', (_, hooks, reason) => {
      const { status, stdout } = run(hooks, fixtureUuid('c0'));
      expect(stdout).toContain('NOT CONFIRMED');
      expect(stdout).toContain(reason);
      expect(status).toBe(1);
    });

    const ALL = '--all';

    test('confirms whole packages, also with a line separator in a value and after a change of the key', () => {
      const separated: PackageHooks = disclosing('c0', [fixtureDisclosure('a', 'signer_name', 'Ann\u2028Lee')]);
      const { status, stdout } = run(separated, ALL);
      expect(stdout).toContain('5. nothing is missing up to that checkpoint');
      expect(status).toBe(0);
      for (const key of ['ledger.key', 'next.key']) {
        expect(run({ rotateAt: 4 }, ALL, key).stdout).toMatch(/\nCONFIRMED\n/);
        expect(run({ rotateAt: 4 }, fixtureUuid('c0'), key).stdout).toMatch(/\nCONFIRMED\n/);
      }
    });

    test('refuses one record in a form of before if a record of an earlier batch states its scope', () => {
      const stated = event('c0', stating({}));
      const { status, stdout } = run(stated, fixtureUuid('c7'));
      expect(stdout).toContain('NOT CONFIRMED: record.format: ');
      expect(stdout).toContain('states no scope and no rule');
      expect(status).toBe(1);
      expect(run(stated, fixtureUuid('c0')).status).toBe(0);
    });

    test('refuses another ledger’s key, another root, and a record that is not there', () => {
      expect(run({}, fixtureUuid('c0'), 'next.key').stdout).toContain('ledger key that you gave did not sign');
      expect(run({}, fixtureUuid('c0'), 'ledger.key', 'other.pem').stdout).toContain('the time stamp is invalid');
      expect(run({}, fixtureUuid('c9')).stdout).toContain('contains no record');
    });
  },
);
