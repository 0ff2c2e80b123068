import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { titleNeeding } from '../support/missing-tools.js';
import { hasOpenssl } from '../support/openssl-tsa.js';
import { makeAuthority, makeTsa, verify } from './support/authority.js';
import {
  basicConstraints,
  CA_EXTENSIONS,
  crlDistributionPoint,
  extendedKeyUsage,
  extension,
  keyUsage,
  makeCertificate,
  SERVER_AUTH,
  type TestCertificate,
  TIME_STAMPING,
  TSA_EXTENSIONS,
} from './support/certificates.js';
import { CHAINS, type ChainCase } from './support/chains.js';
import { context, integer, join as joinBytes, oid, sequence } from './support/der.js';
import { ecdsaSigner, ed25519Signer, pssSigner, rsaSigner, type Signer } from './support/keys.js';
import { DATA, GEN_TIME, makeResponse, makeToken, type TokenOptions } from './support/tokens.js';

if (!hasOpenssl) console.warn('The openssl command is not there: the comparison with it is skipped.');

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'consent-ledger-compare-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** Returns the verdict of `openssl ts -verify`, at the time of the stamp. */
function opensslVerdict(response: Uint8Array, root: Uint8Array): 'pass' | 'fail' {
  const file = (name: string) => join(folder, name);
  writeFileSync(file('data'), DATA);
  writeFileSync(file('r.tsr'), response);
  writeFileSync(file('root.pem'), pemOf('CERTIFICATE', root));
  const time = String(Math.floor(GEN_TIME.getTime() / 1000));
  const args = [
    'ts',
    '-verify',
    '-data',
    file('data'),
    '-in',
    file('r.tsr'),
    '-CAfile',
    file('root.pem'),
    '-attime',
    time,
  ];
  return spawnSync('openssl', args).status === 0 ? 'pass' : 'fail';
}

const authority = makeAuthority();

/** Returns the verdict of `openssl verify` on a certificate, at the time of the stamp. */
function opensslOnChain({ root, tsa, others, crls = [] }: ChainCase): 'accepts' | 'refuses' {
  const file = (name: string, label: string, contents: readonly Uint8Array[]) => {
    const path = join(folder, name);
    writeFileSync(path, contents.map((der) => pemOf(label, der)).join(''));
    return path;
  };
  const certificates = (name: string, list: readonly TestCertificate[]) =>
    file(
      name,
      'CERTIFICATE',
      list.map(({ der }) => der),
    );
  const args = ['verify', '-purpose', 'timestampsign', '-attime', String(GEN_TIME.getTime() / 1000)];
  // Without anyPolicy as the policy, it refuses every chain that requires one.
  args.push('-policy_check', '-policy', '2.5.29.32.0');
  args.push('-CAfile', certificates('anchor.pem', [root]));
  if (others.length > 0) args.push('-untrusted', certificates('others.pem', others));
  if (crls.length > 0) args.push('-extended_crl', '-crl_check', '-CRLfile', file('crls.pem', 'X509 CRL', crls));
  return spawnSync('openssl', [...args, certificates('leaf.pem', [tsa])]).status === 0 ? 'accepts' : 'refuses';
}

function pemOf(label: string, der: Uint8Array): string {
  const lines =
    Buffer.from(der)
      .toString('base64')
      .match(/.{1,64}/g) ?? [];
  return [`-----BEGIN ${label}-----`, ...lines, `-----END ${label}-----`, ''].join('\n');
}

describe.skipIf(!hasOpenssl)(titleNeeding('openssl', hasOpenssl, 'compared with openssl ts'), () => {
  const signers: [string, () => Signer][] = [
    ['RSA PKCS#1', () => rsaSigner('sha256')],
    ['P-256', () => ecdsaSigner('P-256', 'sha256')],
    ['P-384', () => ecdsaSigner('P-384', 'sha384')],
    ['P-521', () => ecdsaSigner('P-521', 'sha512')],
  ];
  it.each(signers)('both pass %s', async (_name, signer) => {
    const made = makeAuthority(signer());
    const response = makeResponse(makeToken(made.tsa));
    expect([(await verify(made, response)).outcome, opensslVerdict(response, made.root.der)]).toEqual(['pass', 'pass']);
  });

  it.each([
    ['BER with indefinite lengths', { ber: true }],
    ['microseconds', { genTime: '20260304050607.123456Z' }],
    ['ESS v1', { ess: 'v1' }],
    ['an imprint by SHA-512', { imprintHash: 'sha512' }],
    ['an imprint by SHA3-256', { imprintHash: 'sha3-256' }],
    ['unsorted attributes, signed as they stand', { signedAttributes: 'unsorted' }],
  ] as [string, TokenOptions][])('both pass %s', async (_name, options) => {
    const response = makeResponse(makeToken(authority.tsa, options));
    const verdicts = [(await verify(authority, response)).outcome, opensslVerdict(response, authority.root.der)];
    expect(verdicts).toEqual(['pass', 'pass']);
  });

  it.each([
    ['other data', { data: new Uint8Array(1) }],
    ['version 2', { version: 2 }],
    ['two signers', { signers: 2 }],
    ['a wrong message digest', { wrongMessageDigest: true }],
    ['stripped attributes', { signedAttributes: 'none' }],
    ['no ESS attribute', { ess: 'none' }],
    ['a tsa name that is not the certificate’s', { tsaName: context(4, authority.root.name) }],
    ['another content type', { contentType: '1.2.840.113549.1.7.1' }],
    ['an ESS hash of another certificate', { essCertificate: makeTsa(authority.root) }],
  ] as [string, TokenOptions][])('both fail %s', async (_name, options) => {
    const response = makeResponse(makeToken(authority.tsa, options));
    const verdicts = [(await verify(authority, response)).outcome, opensslVerdict(response, authority.root.der)];
    expect(verdicts).toEqual(['fail', 'fail']);
  });

  it('both fail a refusal, a CA as signer and an extended key usage that is not critical', async () => {
    const refusal = makeResponse(makeToken(authority.tsa), 2);
    expect([(await verify(authority, refusal)).outcome, opensslVerdict(refusal, authority.root.der)]).toEqual([
      'fail',
      'fail',
    ]);
    const tsa = makeTsa(authority.root, undefined, {
      extensions: [extendedKeyUsage(false, TIME_STAMPING), keyUsage(0)],
    });
    const lax = makeResponse(makeToken(tsa));
    expect([(await verify(authority, lax)).outcome, opensslVerdict(lax, authority.root.der)]).toEqual(['fail', 'fail']);
  });

  it.each(CHAINS.filter(({ openssl }) => openssl !== null))('openssl verify $openssl: $name', (chain) => {
    expect(opensslOnChain(chain)).toBe(chain.openssl);
  });

  describe('disagreements, each with its reason', () => {
    const compare = async (response: Uint8Array, made = authority) => ({
      ours: (await verify(made, response)).outcome,
      openssl: opensslVerdict(response, made.root.der),
    });

    it('openssl takes SHA-1 and MD5, which no longer prove anything', async () => {
      for (const imprintHash of ['sha1', 'md5'] as const) {
        const response = makeResponse(makeToken(authority.tsa, { imprintHash }));
        expect(await compare(response)).toEqual({ ours: 'indeterminate', openssl: 'pass' });
      }
    });

    it('openssl does not read bytes after the token', async () => {
      const response = joinBytes(makeResponse(makeToken(authority.tsa)), new Uint8Array([0]));
      expect(await compare(response)).toEqual({ ours: 'fail', openssl: 'pass' });
    });

    it('openssl ignores critical extensions of the TSTInfo', async () => {
      const critical = extension('1.2.3', true, integer(1));
      const response = makeResponse(makeToken(authority.tsa, { tstExtensions: [critical] }));
      expect(await compare(response)).toEqual({ ours: 'fail', openssl: 'pass' });
    });

    it('openssl’s CMS is PKCS#7, which knows neither RSA-PSS nor Ed25519', async () => {
      for (const signer of [pssSigner('sha256'), ed25519Signer()]) {
        const made = makeAuthority(signer);
        expect(await compare(makeResponse(makeToken(made.tsa)), made)).toEqual({ ours: 'pass', openssl: 'fail' });
      }
    });

    it('openssl verifies attributes as they stand and never sorts them, so only signers who sign what they send pass there', async () => {
      const response = makeResponse(makeToken(authority.tsa, { signedAttributes: 'unsorted-but-signed-sorted' }));
      expect(await compare(response)).toEqual({ ours: 'pass', openssl: 'fail' });
    });

    it('openssl takes no other anchor than a self-signed one unless told', async () => {
      const intermediate = makeCertificate({ name: 'Intermediate', issuer: authority.root, extensions: CA_EXTENSIONS });
      const tsa = makeCertificate({ name: 'TSA', issuer: intermediate, extensions: TSA_EXTENSIONS });
      const response = makeResponse(makeToken(tsa));
      expect(await compare(response, { root: intermediate, tsa })).toEqual({ ours: 'pass', openssl: 'fail' });
    });

    it('openssl accepts an intermediate for other purposes, which we leave open', async () => {
      const extensions = [...CA_EXTENSIONS, extendedKeyUsage(false, SERVER_AUTH)];
      const intermediate = makeCertificate({ name: 'Intermediate', issuer: authority.root, extensions });
      const tsa = makeCertificate({ name: 'TSA', issuer: intermediate, extensions: TSA_EXTENSIONS });
      const response = makeResponse(makeToken(tsa, { certificates: [tsa.der, intermediate.der] }));
      expect(await compare(response)).toEqual({ ours: 'indeterminate', openssl: 'pass' });
    });

    it('openssl does not know critical qcStatements, which we accept', async () => {
      const qcStatements = extension('1.3.6.1.5.5.7.1.3', true, sequence(sequence(oid('0.4.0.1862.1.1'))));
      const tsa = makeTsa(authority.root, undefined, { extensions: [...TSA_EXTENSIONS, qcStatements] });
      expect(await compare(makeResponse(makeToken(tsa)))).toEqual({ ours: 'pass', openssl: 'fail' });
    });

    it('openssl evaluates usages of the anchor, which we do not', async () => {
      const root = makeCertificate({ name: 'Anchor', extensions: [basicConstraints(true), keyUsage(0)] });
      const tsa = makeTsa(root);
      expect(await compare(makeResponse(makeToken(tsa)), { root, tsa })).toEqual({ ours: 'pass', openssl: 'fail' });
    });

    it('openssl ignores the version of the SignerInfo', async () => {
      const response = makeResponse(makeToken(authority.tsa, { signerVersion: 3 }));
      expect(await compare(response)).toEqual({ ours: 'fail', openssl: 'pass' });
    });

    it('openssl looks at no revocation here', async () => {
      const extensions = [...TSA_EXTENSIONS, crlDistributionPoint('http://crl.example/tsa.crl')];
      const tsa = makeTsa(authority.root, undefined, { extensions });
      expect(await compare(makeResponse(makeToken(tsa)))).toEqual({ ours: 'indeterminate', openssl: 'pass' });
    });
  });
});
