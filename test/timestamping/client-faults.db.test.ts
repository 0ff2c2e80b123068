import { createServer, type RequestListener, type Server } from 'node:http';
import { afterEach, describe, expect, it } from 'vitest';
import { Fields, TAG } from '../../schemas/rfc3161/asn1/fields.js';
import { readSingle } from '../../schemas/rfc3161/asn1/reader.js';
import { createTimestampClient, type TimestampClientOptions } from '../../src/timestamping/client.js';
import { TimestampUnavailable } from '../../src/timestamping/stamping.js';
import { makeAuthority } from '../rfc3161/support/authority.js';
import { crlDistributionPoint, ocspAccess, TSA_EXTENSIONS } from '../rfc3161/support/certificates.js';
import { timeText } from '../rfc3161/support/der.js';
import { makeCrl, makeOcspResponse } from '../rfc3161/support/revocation.js';
import { makeResponse, makeToken, type TokenOptions } from '../rfc3161/support/tokens.js';

const DATA = new TextEncoder().encode('a checkpoint\n');
const REPLY = { 'content-type': 'application/timestamp-reply' };
const servers: Server[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return `http://127.0.0.1:${address.port}/`;
}

const authority = makeAuthority();

/** An authority that is honest except for the change of the test. */
function responder(change: (nonce: bigint, call: number) => TokenOptions = () => ({})): RequestListener {
  let call = 0;
  return async (request, response) => {
    const chunks: Uint8Array[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const fields = new Fields(readSingle(new Uint8Array(Buffer.concat(chunks))), 'TimeStampReq');
    fields.required(TAG.integer, 'version');
    fields.required(TAG.sequence, 'messageImprint');
    const nonce = BigInt(`0x${Buffer.from(fields.required(TAG.integer, 'nonce').content).toString('hex')}`);
    call += 1;
    const options = { data: DATA, nonce, genTime: timeText(new Date()), ...change(nonce, call) };
    response.writeHead(200, REPLY).end(makeResponse(makeToken(authority.tsa, options)));
  };
}

function clientOf(authorities: readonly string[], options: Partial<TimestampClientOptions> = {}) {
  return createTimestampClient({ authorities, trustAnchors: [authority.root.der], timeoutMs: 60_000, ...options });
}

async function reasonOf(
  authorities: readonly string[],
  options: Partial<TimestampClientOptions> = {},
): Promise<string> {
  const failure = await clientOf(authorities, options)
    .stamp(DATA)
    .catch((error: unknown) => error);
  expect(failure).toBeInstanceOf(TimestampUnavailable);
  return String(failure);
}

describe('an invalid response of an authority is refused', () => {
  it('with another nonce', async () => {
    expect(await reasonOf([await serve(responder((nonce) => ({ nonce: nonce + 1n })))])).toContain('tst.nonce');
  });

  it('with a token over other data', async () => {
    expect(await reasonOf([await serve(responder(() => ({ data: new Uint8Array(1) })))])).toContain('tst.imprint');
  });

  it.each([-120_000, 120_000])('with a clock difference of %i ms', async (offset) => {
    const url = await serve(responder(() => ({ genTime: timeText(new Date(Date.now() + offset)) })));
    expect(await reasonOf([url])).toMatch(/differs by more than 60 s from the clock of this machine|tst\.time/);
  });

  it('with a chain to an untrusted root', async () => {
    const url = await serve(responder());
    expect(await reasonOf([url], { trustAnchors: [makeAuthority().root.der] })).toContain('tst.path');
  });

  it.each([
    ['an error', 503, REPLY, 'x', 'HTTP 503'],
    ['a web page', 200, { 'content-type': 'text/html' }, '<html>', 'did not answer with a time stamp'],
    ['rubbish', 200, REPLY, 'rubbish', 'tst.format'],
    ['nothing', 200, REPLY, '', 'tst.format'],
    ['too much', 200, REPLY, 'x'.repeat(1024 * 1024 + 1), 'more than 1048576 bytes'],
    ['a redirect', 307, { location: 'http://127.0.0.1:1/' }, '', 'redirected a POST'],
  ])('with %s as the response', async (_name, status, headers, body, reason) => {
    expect(
      await reasonOf([await serve((_request, response) => response.writeHead(status, headers).end(body))]),
    ).toContain(reason);
  });

  it('without a response, or with an endless one', async () => {
    const silent = await serve(() => {});
    const endless = await serve((_request, response) => {
      response.writeHead(200, REPLY).write('x');
    });
    const broken = await serve((request) => request.socket.destroy());
    const reason = await reasonOf([silent, endless, broken], { timeoutMs: 300 });
    expect(reason.match(/cannot be reached|broke off/g)).toHaveLength(3);
  });

  it('with a body that neither ends nor heeds the signal', async () => {
    const body = new ReadableStream({});
    const endless = async () => new Response(body, { headers: REPLY });
    expect(await reasonOf(['http://tsa.example/'], { timeoutMs: 10, fetch: endless })).toContain('no complete answer');
  });

  it('with a content coding that was not asked for, which Node waits for without an end', async () => {
    const coded = await serve((_request, response) =>
      response.writeHead(200, { ...REPLY, 'content-encoding': 'gzip' }).end('x'),
    );
    expect(await reasonOf([coded])).toContain('answered in a content coding');
  });

  it('with a URL that is not http or https', async () => {
    expect(await reasonOf(['file:///etc/passwd'])).toContain('not an http or https URL');
  });
});

describe('fail-over and back-off', () => {
  it('asks the next authority, and pauses the failed one', async () => {
    let asked = 0;
    const bad = await serve((_request, response) => {
      asked += 1;
      response.writeHead(500).end();
    });
    const good = await serve(responder());
    let now = Date.now();
    const backOff = { firstMs: 20_000, longestMs: 40_000 };
    const client = clientOf([bad, good], { clock: () => new Date(now), backOff, random: () => 0.999999 });
    expect((await client.stamp(DATA)).authority).toBe(good);
    expect((await client.stamp(DATA)).authority).toBe(good);
    expect(asked).toBe(1);
    now += 20_001;
    await client.stamp(DATA);
    expect(asked).toBe(2);
    now += 20_001;
    await client.stamp(DATA);
    expect(asked).toBe(2);
  });

  it('asks an authority that is away for four days every few minutes only, and uses it when it is back', async () => {
    const [minute, days] = [60_000, 4];
    const good = await serve(responder());
    const back = Date.now() - 10 * minute;
    let now = back - days * 1_440 * minute;
    let asked = 0;
    const client = clientOf([good], {
      clock: () => new Date(now),
      fetch: (...request) => {
        asked += 1;
        return now < back ? Promise.reject(new TypeError('away')) : fetch(...request);
      },
    });
    for (; now < back; now += minute) await expect(client.stamp(DATA)).rejects.toThrow(TimestampUnavailable);
    // A pause is shortened by up to a quarter.
    expect(asked).toBeGreaterThan(days * 144);
    expect(asked).toBeLessThan((days * 144 * 4) / 3 + 10);
    now = Date.now();
    expect((await client.stamp(DATA)).authority).toBe(good);
  });

  it('asks an authority again at once after a clock that was ahead is set back', async () => {
    const good = await serve(responder());
    const now = Date.now();
    let clock = now + 86_400_000;
    const client = clientOf([good], { clock: () => new Date(clock) });
    await expect(client.stamp(DATA)).rejects.toThrow('differs by more than 60 s from the clock of this machine');
    clock = now;
    expect((await client.stamp(DATA)).authority).toBe(good);
  });

  it('reports when to retry if all authorities are paused', async () => {
    const bad = await serve((_request, response) => response.writeHead(500).end());
    const now = new Date('2026-01-01T00:00:00Z');
    const client = clientOf([bad], { clock: () => now, random: () => 0.999999 });
    await expect(client.stamp(DATA)).rejects.toMatchObject({
      failures: [{ authority: bad, reason: 'answered HTTP 500' }],
    });
    await expect(client.stamp(DATA)).rejects.toMatchObject({ failures: [], retryAt: new Date(now.getTime() + 5000) });
  });

  it('stops when the signal is aborted', async () => {
    const controller = new AbortController();
    const client = clientOf([await serve(() => controller.abort())]);
    await expect(client.stamp(DATA, { signal: controller.signal })).rejects.toMatchObject({ name: 'AbortError' });
  });
});

describe('a token before the previous one', () => {
  it('is requested again after a pause', async () => {
    const previous = { genTime: new Date(), accuracyMicroseconds: undefined };
    const early = new Date(previous.genTime.getTime() - 10_000);
    const url = await serve(responder((_nonce, call) => (call < 3 ? { genTime: timeText(early) } : {})));
    const pauses: number[] = [];
    const client = clientOf([url], {
      sleep: async (milliseconds) => {
        pauses.push(milliseconds);
      },
    });
    const { genTime } = await client.stamp(DATA, { previous });
    expect(genTime.getTime()).toBeGreaterThanOrEqual(previous.genTime.getTime() - 1000);
    expect(pauses).toHaveLength(2);
    expect(Math.min(...pauses)).toBeGreaterThan(8000);
  });

  it('is refused after three attempts', async () => {
    const previous = { genTime: new Date(Date.now() + 30_000), accuracyMicroseconds: undefined };
    const client = clientOf([await serve(responder())], { sleep: async () => {} });
    await expect(client.stamp(DATA, { previous })).rejects.toThrow('before that of the previous token');
  });
});

describe('gathering', () => {
  /** An authority whose certificate names the sources of `answers`. */
  async function withSources(answers: { crl?: RequestListener; ocsp?: RequestListener }) {
    const refuse: RequestListener = (_request, response) => response.writeHead(404).end();
    const crlUrl = await serve((request, response) => (answers.crl ?? refuse)(request, response));
    const ocspUrl = await serve((request, response) => (answers.ocsp ?? refuse)(request, response));
    const extensions = [...TSA_EXTENSIONS, crlDistributionPoint(crlUrl), ocspAccess(ocspUrl)];
    const made = makeAuthority(undefined, { extensions });
    const url = await serve(async (request, response) => {
      const chunks: Uint8Array[] = [];
      for await (const chunk of request) chunks.push(chunk);
      const fields = new Fields(readSingle(new Uint8Array(Buffer.concat(chunks))), 'TimeStampReq');
      fields.required(TAG.integer, 'version');
      fields.required(TAG.sequence, 'messageImprint');
      const nonce = BigInt(`0x${Buffer.from(fields.required(TAG.integer, 'nonce').content).toString('hex')}`);
      const token = makeToken(made.tsa, { data: DATA, nonce, genTime: timeText(new Date()) });
      response.writeHead(200, REPLY).end(makeResponse(token));
    });
    return { made, client: createTimestampClient({ authorities: [url], trustAnchors: [made.root.der] }) };
  }
  const later = () => ({ thisUpdate: new Date(Date.now() + 5000), nextUpdate: new Date(Date.now() + 86_400_000) });

  it('asks both kinds of source, and keeps the usable responses', async () => {
    let crls = 0;
    const { made, client } = await withSources({
      crl: (_request, response) => {
        crls += 1;
        response.end(makeCrl(made.root, later()));
      },
      ocsp: (_request, response) => response.end(makeOcspResponse(made.tsa, made.root, later())),
    });
    const stamp = await client.stamp(DATA);
    expect(stamp).toMatchObject({ gatheringProblems: [], report: { outcome: 'pass', revocation: 'conclusive' } });
    expect(stamp.crls).toHaveLength(1);
    expect(stamp.ocspResponses).toHaveLength(1);
    await client.stamp(DATA);
    expect(crls).toBe(1);
  });

  it('returns the token although a response is missing, wrong or by another signer', async () => {
    const other = makeAuthority();
    const { client } = await withSources({
      crl: (_request, response) => response.end(makeCrl(other.root, later())),
      ocsp: (_request, response) => response.end('rubbish'),
    });
    const stamp = await client.stamp(DATA);
    expect(stamp.report).toMatchObject({ outcome: 'indeterminate', revocation: 'indeterminate' });
    expect(stamp).toMatchObject({ crls: [], ocspResponses: [] });
    expect(stamp.gatheringProblems).toHaveLength(2);
    expect(stamp.gatheringProblems.join()).toMatch(/signature of the CRL .* invalid/);
  });

  it('follows redirects of a CRL, but not to another scheme', async () => {
    const target: { crl?: Uint8Array } = {};
    const elsewhere = await serve((_request, response) => response.end(target.crl));
    const { made, client } = await withSources({
      crl: (_request, response) => response.writeHead(302, { location: elsewhere }).end(),
      ocsp: (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    });
    target.crl = makeCrl(made.root, later());
    const stamp = await client.stamp(DATA);
    expect(stamp.crls).toHaveLength(1);
    const bad = await withSources({
      crl: (_request, response) => response.writeHead(302, { location: 'file:///etc/passwd' }).end(),
    });
    expect((await bad.client.stamp(DATA)).gatheringProblems.join()).toContain('not an http or https URL');
  });
});
