import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { TIMESTAMP_CHECKS } from '../../schemas/rfc3161/report.js';
import { makeAuthority, makeTsa } from '../rfc3161/support/authority.js';
import {
  CA_EXTENSIONS,
  crlDistributionPoint,
  makeCertificate,
  ocspAccess,
  TSA_EXTENSIONS,
} from '../rfc3161/support/certificates.js';
import { timeText } from '../rfc3161/support/der.js';
import { makeCrl, makeOcspResponse } from '../rfc3161/support/revocation.js';
import { DATA, GEN_TIME, makeResponse, makeToken, POLICY } from '../rfc3161/support/tokens.js';
import { titleNeeding } from '../support/missing-tools.js';
import { hasOpenssl } from '../support/openssl-tsa.js';
import { pem } from '../support/pem.js';
import { type BundledCommand, bundleCommand } from './bundled-command.js';

let command: BundledCommand;
const run = (...args: readonly string[]) => command.run('timestamp', ...args);
const BASE = ['--data', 'data', '--tsa-ca', 'root.pem', '--at', '2026-06-01'];
const later = new Date(GEN_TIME.getTime() + 3_600_000);

const authority = makeAuthority();
const intermediate = makeCertificate({ name: 'Between', issuer: authority.root, extensions: CA_EXTENSIONS });
const below = makeTsa(intermediate);
const source = makeTsa(authority.root, undefined, {
  extensions: [...TSA_EXTENSIONS, crlDistributionPoint('http://crl.example/a.crl'), ocspAccess('http://o.example/')],
});

beforeAll(() => {
  command = bundleCommand();
  const token = makeToken(authority.tsa);
  command.write('data', DATA);
  command.write('other', 'other data');
  command.write('empty', '');
  command.write('token.tsr', makeResponse(token));
  command.write('bare.tst', token);
  command.write('ber.tst', makeToken(authority.tsa, { ber: true }));
  command.write('sha1.tsr', makeResponse(makeToken(authority.tsa, { imprintHash: 'sha1' })));
  command.write('sha3.tsr', makeResponse(makeToken(authority.tsa, { imprintHash: 'sha3-256' })));
  command.write('empty.tsr', makeResponse(makeToken(authority.tsa, { data: new Uint8Array() })));
  command.write('future.tsr', makeResponse(makeToken(authority.tsa, { genTime: timeText(new Date('2027-01-01')) })));
  command.write('cms.pem', pem('CMS', token));
  command.write('pkcs7.pem', `comment\n${pem('PKCS7', token)}`);
  command.write('two.pem', pem('CMS', token) + pem('CMS', token));
  command.write('nonce.tsr', makeResponse(makeToken(authority.tsa, { nonce: 0xf3an })));
  command.write('bundle.pem', pem('CERTIFICATE', new Uint8Array([0x30, 0])) + pem('CERTIFICATE', authority.root.der));
  command.write('trailing.tsr', new Uint8Array([...makeResponse(token), 0]));
  command.write('refused.tsr', makeResponse(undefined, 2));
  command.write('root.pem', pem('CERTIFICATE', authority.root.der));
  command.write('root.der', authority.root.der);
  command.write('between.pem', `comment\n${pem('CERTIFICATE', intermediate.der)}${pem('CERTIFICATE', below.der)}`);
  command.write('below.tst', makeToken(below, { certificates: [] }));
  command.write('source.tst', makeToken(source));
  const crl = makeCrl(authority.root, { thisUpdate: later, nextUpdate: new Date('2027-01-01') });
  command.write('good.crl', crl);
  command.write('good.crl.pem', pem('X509 CRL', crl));
  const revoked = [{ serial: source.serial, at: new Date(GEN_TIME.getTime() - 1000), reason: 1 }];
  command.write('revoked.crl', makeCrl(authority.root, { thisUpdate: later, revoked }));
  command.write('good.ors', makeOcspResponse(source, authority.root, { thisUpdate: later, status: 'good' }));
});
afterAll(() => command.remove());

test('0 for a good token, with the data or their digest, in a response or bare', () => {
  for (const token of ['token.tsr', 'bare.tst', 'ber.tst', 'sha3.tsr', 'cms.pem', 'pkcs7.pem']) {
    const result = run(token, ...BASE);
    expect(result.stderr).toBe('');
    expect(result.status, token).toBe(0);
    expect(result.stdout).toMatch(/^VALID/);
    expect(result.stdout).toContain(GEN_TIME.toISOString());
  }
  const hex = createHash('sha256').update(DATA).digest('hex');
  for (const digest of [`sha256:${hex}`, `SHA-256:${hex.toUpperCase()}`]) {
    const trust = ['--tsa-ca', 'root.der', '--at', '2026-06-01'];
    expect(run('token.tsr', '--digest', digest, ...trust).status).toBe(0);
  }
  expect(run('empty.tsr', '--data', 'empty', ...BASE.slice(2)).status).toBe(0);
});

test('--json prints one object with every check', () => {
  const result = run('token.tsr', ...BASE, '--json');
  const report: unknown = JSON.parse(result.stdout);
  expect(report).toMatchObject({
    format: 'consent-verify-timestamp',
    verdict: 'valid',
    claims: { time: GEN_TIME.toISOString(), hash: 'sha256' },
    verified_at: '2026-06-01T00:00:00.000Z',
  });
  expect(report).toHaveProperty(
    'checks',
    TIMESTAMP_CHECKS.map((id) => expect.objectContaining({ id, outcome: expect.stringMatching(/^(pass|not-app)/) })),
  );
});

test.each([
  ['other data', 'token.tsr', ['--data', 'other'], 'tst.imprint'],
  ['a refusal', 'refused.tsr', ['--data', 'data'], 'tst.status'],
  ['bytes behind the token', 'trailing.tsr', ['--data', 'data'], 'tst.format'],
  ['a file that is no token', 'data', ['--data', 'data'], 'tst.format'],
  ['a token from the future', 'future.tsr', ['--data', 'data'], 'tst.time'],
])('1 for %s', (_, token, stamped, check) => {
  const result = run(token, ...stamped, ...BASE.slice(2), '--json');
  expect(result.status).toBe(1);
  expect(JSON.parse(result.stdout)).toMatchObject({
    verdict: 'invalid',
    checks: expect.arrayContaining([expect.objectContaining({ id: check, outcome: 'fail' })]),
  });
});

test('3 for a hash that is no longer sound, also where only the digest is given', () => {
  expect(run('sha1.tsr', ...BASE).status).toBe(3);
  const hex = createHash('sha1').update(DATA).digest('hex');
  expect(run('sha1.tsr', '--digest', `sha1:${hex}`, ...BASE.slice(2)).status).toBe(3);
  expect(run('token.tsr', '--digest', `sha1:${hex}`, ...BASE.slice(2)).status).toBe(3);
});

test('--untrusted completes a chain of which the token carries nothing, and vouches for nothing', () => {
  expect(run('below.tst', ...BASE).status).toBe(3);
  expect(run('below.tst', ...BASE, '--untrusted', 'between.pem').status).toBe(0);
  const other = command.write('other-root.pem', pem('CERTIFICATE', makeAuthority().root.der));
  const stranger = ['--data', 'data', '--tsa-ca', other, '--at', '2026-06-01'];
  expect(run('below.tst', ...stranger, '--untrusted', 'between.pem').status).not.toBe(0);
});

test('several files may follow one option', () => {
  const untrusted = ['--untrusted', 'root.pem', 'between.pem'];
  expect(run('below.tst', '--data', 'data', '--tsa-ca', 'root.pem', ...untrusted, '--at', '2026-06-01').status).toBe(0);
  expect(run('source.tst', ...BASE, '--crl', 'good.crl', 'revoked.crl').status).toBe(1);
  // Until the token is named, what follows the option's first file is the token.
  expect(run('--data', 'data', '--at', '2026-06-01', '--tsa-ca', 'root.pem', 'token.tsr').status).toBe(0);
  expect(run('--data', 'data', '--tsa-ca', 'root.pem', 'token.tsr', 'other').status).toBe(2);
  expect(run('token.tsr', ...BASE, 'other').status).toBe(2);
});

test('a chain that names a source of revocations needs an answer, unless told to ignore it', () => {
  expect(run('source.tst', ...BASE).status).toBe(3);
  expect(run('source.tst', ...BASE, '--revocation', 'require').status).toBe(3);
  expect(run('source.tst', ...BASE, '--revocation', 'ignore').status).toBe(0);
  for (const crl of ['good.crl', 'good.crl.pem']) expect(run('source.tst', ...BASE, '--crl', crl).status).toBe(0);
  expect(run('source.tst', ...BASE, '--ocsp', 'good.ors').status).toBe(0);
  expect(run('source.tst', ...BASE, '--crl', 'revoked.crl', '--crl', 'good.crl').status).toBe(1);
});

test('an unreadable certificate of a bundle is reported and ignored', () => {
  const result = run('token.tsr', '--data', 'data', '--tsa-ca', 'bundle.pem', '--at', '2026-06-01');
  expect(result.status).toBe(0);
  expect(result.stderr).toMatch(/^consent-verify: warning: bundle\.pem: item 1 of 2 was ignored, because it cannot be/);
});

test('--policy accepts only the given policies', () => {
  expect(run('token.tsr', ...BASE, '--policy', POLICY).status).toBe(0);
  expect(run('token.tsr', ...BASE, '--policy', '1.2.3', POLICY).status).toBe(0);
  expect(run('token.tsr', ...BASE, '--policy', '1.2.3').status).toBe(1);
});

test('--nonce must be the nonce of the token', () => {
  for (const nonce of ['0xf3a', 'F3A', '0f3a']) expect(run('nonce.tsr', ...BASE, '--nonce', nonce).status).toBe(0);
  expect(run('nonce.tsr', ...BASE, '--nonce', 'f3b').status).toBe(1);
  expect(run('token.tsr', ...BASE, '--nonce', 'f3a').status).toBe(1);
});

test.skipIf(!hasOpenssl)(
  titleNeeding('openssl', hasOpenssl, 'openssl reads the PEM token that the command accepts'),
  () => {
    const result = spawnSync('openssl', ['cms', '-cmsout', '-inform', 'PEM', '-in', join(command.folder, 'cms.pem')]);
    expect(result.status).toBe(0);
    const written = spawnSync('openssl', ['pkcs7', '-inform', 'DER', '-in', join(command.folder, 'bare.tst')]);
    expect(run(command.write('written.pem', written.stdout), ...BASE).status).toBe(0);
  },
);

test('--at is the time of verification: algorithms must be sound then', () => {
  expect(run('token.tsr', ...BASE.slice(0, 4), '--at', '2035-12-31').status).toBe(0);
  expect(run('token.tsr', ...BASE.slice(0, 4), '--at', '2036-01-02').status).toBe(3);
  expect(run('token.tsr', ...BASE.slice(0, 4), '--at', '2020-01-01').status).toBe(1);
});

test.each([
  ['no token', []],
  ['no data', ['token.tsr', '--tsa-ca', 'root.pem']],
  ['data and digest', ['token.tsr', ...BASE, '--digest', `sha256:${'0'.repeat(64)}`]],
  ['no root', ['token.tsr', '--data', 'data']],
  ['a digest of an unknown hash', ['token.tsr', '--digest', 'crc32:00000000', '--tsa-ca', 'root.pem']],
  ['a digest of a wrong length', ['token.tsr', '--digest', 'sha256:00', '--tsa-ca', 'root.pem']],
  ['a digest that is not hex', ['token.tsr', '--digest', `sha256:${'x'.repeat(64)}`, '--tsa-ca', 'root.pem']],
  ['a digest without a hash', ['token.tsr', '--digest', '0'.repeat(64), '--tsa-ca', 'root.pem']],
  ['a token that is not there', ['missing.tsr', ...BASE]],
  ['data that are not there', ['token.tsr', '--data', 'missing', '--tsa-ca', 'root.pem']],
  ['a folder as data', ['token.tsr', '--data', '.', '--tsa-ca', 'root.pem']],
  ['a root that is none', ['token.tsr', '--data', 'data', '--tsa-ca', 'data']],
  ['a CRL that is none', ['token.tsr', ...BASE, '--crl', 'root.pem']],
  ['an OCSP answer that is none', ['token.tsr', ...BASE, '--ocsp', 'root.der']],
  ['an unknown mode', ['token.tsr', ...BASE, '--revocation', 'maybe']],
  ['a wrong time', ['token.tsr', ...BASE, '--at', 'today']],
  ['30 February', ['token.tsr', ...BASE, '--at', '2026-02-30']],
  ['30 February with a time and an offset', ['token.tsr', ...BASE, '--at', '2026-02-30T23:00:00-02:00']],
  ['two tokens in one file', ['two.pem', ...BASE]],
  ['a PEM file without a token', ['root.pem', ...BASE]],
  ['a policy that is not an object identifier', ['token.tsr', ...BASE, '--policy', 'tsa']],
  ['a nonce that is not hexadecimal', ['token.tsr', ...BASE, '--nonce', 'xyz']],
])('2 for %s', (_, args) => {
  const result = run(...args);
  expect(result.status).toBe(2);
  expect(result.stdout).toBe('');
  expect(result.stderr).not.toBe('');
  expect(result.stderr).not.toMatch(/\n\s+at /);
});
