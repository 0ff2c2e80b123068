import { execFileSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { parseTimestamp } from '../../schemas/rfc3161/cms/token.js';
import { DEVELOPMENT_MARK } from '../../schemas/rfc3161/development-mark.js';
import { parseCrl } from '../../schemas/rfc3161/revocation/crl.js';
import { parseCertificate } from '../../schemas/rfc3161/x509/certificate.js';
import { createTimestampClient } from '../../src/timestamping/client.js';
import { DEVELOPMENT_POLICY } from '../../src/timestamping/development-tsa/certificates.js';
import { type DevelopmentTsa, startDevelopmentTsa } from '../../src/timestamping/development-tsa/start.js';
import { bool, context, integer, octets, oid, sequence } from '../rfc3161/support/der.js';
import { hashIdentifier, type TestHash } from '../rfc3161/support/keys.js';
import { digest } from '../rfc3161/support/tokens.js';
import { titleNeeding } from '../support/missing-tools.js';
import { hasOpenssl } from '../support/openssl-tsa.js';

const DATA = new TextEncoder().encode('a checkpoint\n');

describe('development authority', () => {
  let folder: string;
  let tsa: DevelopmentTsa;
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'consent-ledger-tsa-'));
    tsa = await startDevelopmentTsa({ folder: join(folder, 'tsa') });
  });
  afterEach(async () => {
    await tsa.stop();
    await rm(folder, { recursive: true });
  });

  const ask = async (request: Uint8Array) => {
    const headers = { 'content-type': 'application/timestamp-query' };
    const response = await fetch(tsa.url, { method: 'POST', headers, body: request });
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('application/timestamp-reply');
    return parseTimestamp(new Uint8Array(await response.arrayBuffer()));
  };
  const request = (hash: TestHash, ...rest: Uint8Array[]) =>
    sequence(integer(1), sequence(hashIdentifier(hash), octets(digest(hash, DATA))), ...rest);

  it('responds with the requested nonce, certificates and policy', async () => {
    const full = await ask(request('sha256', oid(DEVELOPMENT_POLICY), integer(0xfeedn), bool(true)));
    expect(full.tstInfo).toMatchObject({ policy: DEVELOPMENT_POLICY, accuracyMicroseconds: 1_000_000 });
    expect(full.tstInfo?.nonce).toEqual(new Uint8Array([0, 0xfe, 0xed]));
    expect(full.signedData?.certificates).toHaveLength(1);
    const bare = await ask(request('sha256'));
    expect(bare.tstInfo?.nonce).toBeUndefined();
    expect(bare.signedData?.certificates).toEqual([]);
  });

  it.each([
    ['SHA-1', request('sha1'), 'badAlg'],
    ['MD5', request('md5'), 'badAlg'],
    ['SHA3-256', request('sha3-256'), 'badAlg'],
    ['bytes that are no request', new Uint8Array([1, 2, 3]), 'badDataFormat'],
    ['nothing', new Uint8Array(0), 'badDataFormat'],
    [
      'a digest of a wrong length',
      sequence(integer(1), sequence(hashIdentifier('sha256'), octets(new Uint8Array(20)))),
      'badDataFormat',
    ],
    ['trailing bytes', new Uint8Array([...request('sha256'), 0]), 'badDataFormat'],
    [
      'version 2',
      sequence(integer(2), sequence(hashIdentifier('sha256'), octets(digest('sha256', DATA)))),
      'badRequest',
    ],
    ['another policy', request('sha256', oid('1.2.3')), 'unacceptedPolicy'],
    [
      'an extension',
      request('sha256', context(0, sequence(oid('1.2.3'), octets(new Uint8Array(1))))),
      'unacceptedExtension',
    ],
  ])('refuses %s', async (_name, body, failure) => {
    const { status, token } = await ask(body);
    expect(status).toMatchObject({ status: 2, failures: [failure] });
    expect(token).toBeUndefined();
  });

  it('refuses other HTTP requests with an HTTP status', async () => {
    expect((await fetch(tsa.url)).status).toBe(405);
    expect((await fetch(`${tsa.url}other`)).status).toBe(404);
    expect((await fetch(tsa.url, { method: 'POST', body: new Uint8Array(70_000) })).status).toBe(413);
  });

  it('never uses a serial number twice, also across restarts', async () => {
    const serials = async (count: number) => {
      const answers = await Promise.all(Array.from({ length: count }, () => ask(request('sha256'))));
      return answers.map(({ tstInfo }) => Buffer.from(tstInfo?.serial ?? []).toString('hex'));
    };
    const before = await serials(20);
    await tsa.stop();
    tsa = await startDevelopmentTsa({ folder: join(folder, 'tsa') });
    expect(new Set([...before, ...(await serials(20))]).size).toBe(40);
  });

  it('states in each certificate that its tokens are no evidence', async () => {
    const root = parseCertificate(new X509Certificate(await readFile(tsa.rootCertificatePemPath)).raw);
    const { signedData, status } = await ask(request('sha256', bool(true)));
    const leaf = parseCertificate(signedData?.certificates[0] ?? new Uint8Array(0));
    for (const { subject } of [root, leaf]) {
      expect(subject.text).toContain(DEVELOPMENT_MARK);
      expect(subject.text.length).toBeLessThanOrEqual('CN='.length + 64);
    }
    expect(leaf.known.extendedKeyUsage).toEqual(['1.3.6.1.5.5.7.3.8']);
    expect(status?.text).toBe(DEVELOPMENT_MARK);
  });

  it('keeps its keys private, and its identity across restarts', async () => {
    const path = join(folder, 'tsa', 'development-tsa.json');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    const [before, rootBefore] = [await readFile(path), await readFile(tsa.rootCertificatePemPath)];
    const { port } = tsa;
    await tsa.stop();
    tsa = await startDevelopmentTsa({ folder: join(folder, 'tsa') });
    expect(tsa.port).toBe(port);
    expect(await readFile(path)).toEqual(before);
    expect(await readFile(tsa.rootCertificatePemPath)).toEqual(rootBefore);
  });

  it('uses another port if its own is unavailable, with the same root and a reachable CRL', async () => {
    const root = new X509Certificate(await readFile(tsa.rootCertificatePemPath)).raw;
    const { port } = tsa;
    await tsa.stop();
    const squatter = createServer((_request, response) => response.end('somebody else'));
    await new Promise<void>((resolve) => squatter.listen(port, '127.0.0.1', resolve));
    try {
      tsa = await startDevelopmentTsa({ folder: join(folder, 'tsa') });
      expect(tsa.port).not.toBe(port);
      const stamp = await createTimestampClient({ authorities: [tsa.url], trustAnchors: [root] }).stamp(DATA);
      expect(stamp.report).toMatchObject({ outcome: 'pass', revocation: 'conclusive' });
    } finally {
      await new Promise((resolve) => squatter.close(resolve));
    }
  });

  it('refuses to start with an unreadable identity instead of replacing it', async () => {
    await tsa.stop();
    await writeFile(join(folder, 'tsa', 'development-tsa.json'), '{"root": 1}');
    await expect(startDevelopmentTsa({ folder: join(folder, 'tsa') })).rejects.toThrow();
    await rm(join(folder, 'tsa', 'development-tsa.json'));
    tsa = await startDevelopmentTsa({ folder: join(folder, 'tsa') });
  });

  it('serves a fresh CRL at the URL in its certificate', async () => {
    const { signedData } = await ask(request('sha256', bool(true)));
    const leaf = parseCertificate(signedData?.certificates[0] ?? new Uint8Array(0));
    const [url] = leaf.known.crlDistributionPoints.flatMap(({ names }) =>
      names.map((name) => (name.kind === 'uri' ? name.value : '')),
    );
    const crl = parseCrl(new Uint8Array(await (await fetch(url ?? '')).arrayBuffer()));
    expect(Date.now() - crl.thisUpdate.getTime()).toBeLessThan(60_000);
  });

  it.skipIf(!hasOpenssl).each(['sha256', 'sha384', 'sha512'])(
    titleNeeding('openssl', hasOpenssl, 'answers an openssl query with %s by a token that openssl verifies'),
    async (hash) => {
      const file = (name: string) => join(folder, name);
      const openssl = (...args: string[]) => execFileSync('openssl', args, { encoding: 'utf8', stdio: 'pipe' });
      await writeFile(file('data'), DATA);
      openssl('ts', '-query', '-data', file('data'), `-${hash}`, '-cert', '-out', file('q.tsq'));
      const response = await fetch(tsa.url, { method: 'POST', body: await readFile(file('q.tsq')) });
      await writeFile(file('r.tsr'), new Uint8Array(await response.arrayBuffer()));
      const roots = ['-CAfile', tsa.rootCertificatePemPath];
      expect(openssl('ts', '-verify', '-queryfile', file('q.tsq'), '-in', file('r.tsr'), ...roots)).toContain('OK');
      expect(openssl('ts', '-verify', '-data', file('data'), '-in', file('r.tsr'), ...roots)).toContain('OK');
      expect(openssl('ts', '-reply', '-in', file('r.tsr'), '-text')).toContain(DEVELOPMENT_POLICY);
      await writeFile(file('data'), 'other');
      expect(() => openssl('ts', '-verify', '-data', file('data'), '-in', file('r.tsr'), ...roots)).toThrow();
    },
  );
});
