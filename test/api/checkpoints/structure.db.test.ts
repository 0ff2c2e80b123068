import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { sha256Hex } from '../../../schemas/crypto/digest.js';
import { formatVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { checkpointRoutes } from '../../../src/api/checkpoints/checkpoints.js';
import { ledgerTurns } from '../../../src/api/checkpoints/serve-documents.js';
import { structureRoutes } from '../../../src/api/checkpoints/structure.js';
import { createApp } from '../../../src/api/server/app.js';
import { exportStructure } from '../../../src/evidence/structure/structure.js';
import { runWatch } from '../../../verifier-cli/src/network/watch/watch-command.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from '../../evidence/package/ledger-world.js';
import { countLocks } from '../../support/count-locks.js';
import { until } from '../../support/wait.js';

const now = (): number => performance.now();

describe('the structure of the ledger in public', () => {
  const TOKEN = 'a-token-of-an-auditor';
  let world: LedgerWorld;
  let app: FastifyInstance;
  let restricted: FastifyInstance;
  let streaming: FastifyInstance;
  let folder: string;
  let serve: (auditors: readonly string[], wholeBytes?: number) => FastifyInstance;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'structure-'));
    world = await openLedgerWorld();
    const pool = world.pipeline.newPool('consent_ledger_api');
    serve = (auditors, wholeBytes) =>
      createApp({ log: pino({ level: 'silent' }), trustedProxies: [] }, [
        (scope) =>
          checkpointRoutes(
            scope,
            pool,
            async () => null,
            ledgerTurns(() => 0),
          ),
        (scope) =>
          structureRoutes(scope, pool, {
            auditors,
            turns: ledgerTurns(now),
            now,
            ...(wholeBytes !== undefined && { wholeBytes }),
          }),
      ]);
    app = serve([]);
    streaming = serve([], 0);
    restricted = serve([sha256Hex('another token'), sha256Hex(TOKEN)]);
    const visitors = Array.from({ length: 130 }, (_, i) => ({ visitorId: `visitor ${i}` }));
    await world.record(world.site, visitors.slice(0, 125));
    await world.record(world.otherSite, [{ visitorId: 'ann' }]);
    await world.stamp(1);
    await world.record(world.site, visitors.slice(125));
    await world.stamp(3);
    await world.record(world.site, [{ visitorId: 'hal' }]);
    await world.seal(1);
  });
  afterAll(async () => {
    await app.close();
    await restricted.close();
    await streaming.close();
    await world.close();
    await rm(folder, { recursive: true });
  });

  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers });
  const newestSize = async (): Promise<number> =>
    Number((await get('/checkpoints/log/checkpoint')).payload.split('\n')[1]);

  it('is recomputed by an auditor, roll-ups included', async () => {
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    let printed = '';
    const ledgerKey = [formatVerifierKey(ORIGIN, world.ledgerKey.publicKey)];
    const options = { ledgerKey, state: folder, interval: '1s', maxAge: '24h', once: true, structure: true };
    const print = (text: string): void => {
      printed += text;
    };
    expect(await runWatch(url, options, print, new AbortController().signal), printed).toBe(0);
    expect(printed).toContain('the structure up to it was recomputed');
    expect(await newestSize()).toBeGreaterThan(128);
  });

  it('is recomputed from exported files, which are written once', async () => {
    const [site, state] = [join(folder, 'site'), join(folder, 'state of site')];
    const pool = world.pipeline.worker;
    const size = await newestSize();
    const seen: number[] = [];
    const exported = await exportStructure(pool, site, (done, total) => seen.push(done / total));
    expect(exported.size).toBe(size);
    expect(seen.at(-1)).toBe(1);
    const again = async () => exportStructure(pool, site, () => undefined);
    // The list of keys and the checkpoint are written each time.
    expect(await again()).toEqual({ size, written: 2 });
    await rm(join(site, 'checkpoints', 'log', 'structure', '005'));
    expect(await again()).toEqual({ size, written: 3 });
    const ledgerKey = [formatVerifierKey(ORIGIN, world.ledgerKey.publicKey)];
    const options = { ledgerKey, state, interval: '1s', maxAge: '24h', once: true, structure: true };
    expect(await runWatch(site, options, () => undefined, new AbortController().signal)).toBe(0);
    for (const path of ['log/structure/127', `log/tile/0/000.p/${size}`, 'keys', 'log/checkpoint']) {
      const served = await get(`/checkpoints/${path}`);
      const file = await readFile(join(site, 'checkpoints', path)).catch(() => null);
      if (file !== null) expect(served.rawPayload.equals(file), path).toBe(true);
    }
  });

  it('serves tiles, bundles and files of batches and roll-ups below the newest stamped checkpoint alone', async () => {
    const size = await newestSize();
    const forever = 'public, max-age=31536000, immutable';
    const shortly = 'public, max-age=10';
    const cases = [
      [`/checkpoints/log/tile/0/000.p/${size}`, shortly, size * 32],
      ['/checkpoints/log/tile/0/000.p/1', shortly, 32],
      [`/checkpoints/log/tile/entries/000.p/${size}`, shortly, null],
      ['/checkpoints/log/structure/000', forever, null],
      ['/checkpoints/log/structure/127', forever, null],
      ['/checkpoints/log/checkpoint', shortly, null],
    ] as const;
    for (const [url, cacheControl, length] of cases) {
      const response = await get(url);
      expect(response.statusCode, url).toBe(200);
      expect(response.headers['cache-control'], url).toBe(cacheControl);
      if (length !== null) expect(response.rawPayload.length, url).toBe(length);
      expect((await app.inject({ method: 'HEAD', url })).headers['content-length'], url).toBe(
        String(response.rawPayload.length),
      );
    }
    const wrong = [
      `/checkpoints/log/tile/0/000.p/${size + 1}`,
      '/checkpoints/log/tile/0/000',
      '/checkpoints/log/tile/1/000',
      '/checkpoints/log/tile/64/000.p/1',
      '/checkpoints/log/tile/0/0',
      '/checkpoints/log/tile/0/x000/000.p/1',
      '/checkpoints/log/tile/entries/001.p/1',
      `/checkpoints/log/structure/${String(size).padStart(3, '0')}`,
      '/checkpoints/log/structure/0',
      '/checkpoints/log/structure/x999/x999/x999/x999/x999/x999/999',
    ];
    for (const url of wrong) {
      const response = await get(url);
      expect(response.statusCode, url).toBe(404);
      expect(response.json(), url).toMatchObject({ code: 'TILE_NOT_FOUND' });
      expect(response.headers['cache-control'], url).toBe('no-store');
    }
  });

  it('is only for auditors where the operator restricts it', async () => {
    const url = '/checkpoints/log/structure/000';
    const answer = async (authorization?: string) =>
      restricted.inject({ method: 'GET', url, headers: authorization === undefined ? {} : { authorization } });
    expect((await answer()).json()).toMatchObject({ code: 'MISSING_BEARER_TOKEN' });
    expect((await answer('Bearer wrong')).json()).toMatchObject({ code: 'INVALID_BEARER_TOKEN' });
    const given = await answer(`Bearer ${TOKEN}`);
    expect(given.statusCode).toBe(200);
    expect(given.headers['cache-control']).toBe('private, max-age=31536000, immutable');
    expect((await restricted.inject({ method: 'GET', url: '/checkpoints/log/checkpoint' })).statusCode).toBe(200);
  });

  it('is streamed where a roll-up is large, to two addresses at a time', async () => {
    const url = '/checkpoints/log/structure/127';
    const whole = await get(url);
    const streamed = await streaming.inject({ method: 'GET', url });
    expect(streamed.rawPayload.equals(whole.rawPayload)).toBe(true);
    expect(streamed.headers['content-length']).toBe(String(whole.rawPayload.length));
    const head = await streaming.inject({ method: 'HEAD', url });
    expect(head.headers['content-length']).toBe(String(whole.rawPayload.length));
    const lock = await world.pipeline.owner.connect();
    try {
      await lock.query('begin; lock table sealed_events in access exclusive mode');
      const first = streaming.inject({ method: 'GET', url });
      // They wait for the table; every further one is refused.
      const waits = "relation = 'sealed_events'::regclass and not granted";
      await until(async () => (await countLocks(lock, waits)) !== 0);
      const second = streaming.inject({ method: 'GET', url, remoteAddress: '192.0.2.2' });
      await until(async () => (await countLocks(lock, waits)) === 2);
      const third = await streaming.inject({ method: 'GET', url, remoteAddress: '192.0.2.3' });
      expect(third.statusCode).toBe(503);
      const refused = await streaming.inject({ method: 'GET', url, remoteAddress: '192.0.2.2' });
      expect(refused.statusCode).toBe(503);
      expect(refused.headers['retry-after']).toBe('30');
      expect(refused.headers['cache-control']).toBe('no-store');
      await lock.query('rollback');
      for (const sent of [await first, await second]) expect(sent.rawPayload.equals(whole.rawPayload)).toBe(true);
    } finally {
      lock.release();
    }
    expect((await streaming.inject({ method: 'GET', url })).statusCode).toBe(200);
  });

  it('goes on from where a download was cut off, whether the file is whole or made while it is sent', async () => {
    const url = '/checkpoints/log/structure/127';
    const whole = await get(url);
    const { length } = whole.rawPayload;
    for (const [name, served] of Object.entries({ app, streaming })) {
      const ask = (headers: Record<string, string>) => served.inject({ method: 'GET', url, headers });
      for (const range of ['bytes=100-', `bytes=100-${length - 1}`, `bytes=-${length - 100}`]) {
        const rest = await ask({ range });
        expect(rest.statusCode, `${name} ${range}`).toBe(206);
        expect(rest.headers['content-range']).toBe(`bytes 100-${length - 1}/${length}`);
        expect(rest.rawPayload.equals(whole.rawPayload.subarray(100)), `${name} ${range}`).toBe(true);
      }
      const past = await ask({ range: `bytes=${length}-` });
      expect([past.statusCode, past.headers['content-range']]).toEqual([416, `bytes */${length}`]);
      const other = await ask({ range: 'bytes=100-', 'if-range': '"another"' });
      expect([other.statusCode, other.rawPayload.length]).toEqual([200, length]);
      const same = await ask({ range: 'bytes=100-', 'if-range': String(whole.headers.etag) });
      expect(same.statusCode).toBe(206);
    }
    const middle = { method: 'GET', url, headers: { range: 'bytes=100-199' } } as const;
    expect((await app.inject(middle)).rawPayload.equals(whole.rawPayload.subarray(100, 200))).toBe(true);
    // Bytes that are sent before the file is known to be right could not be taken back.
    expect((await streaming.inject(middle)).rawPayload.length).toBe(length);
  });

  it('is made once for a leaf, and kept', async () => {
    const { owner } = world.pipeline;
    const url = '/checkpoints/log/structure/007';
    const made = (await get(url)).rawPayload;
    await owner.query('create table made as select * from sealed_events where batch = 7');
    await owner.query('delete from sealed_events where batch = 7');
    const again = await get(url);
    await owner.query('insert into sealed_events select * from made');
    expect(again.rawPayload.equals(made)).toBe(true);
  });

  it('is refused for a while to an address with too many requests, and never by their number', async () => {
    const from = async (remoteAddress: string) =>
      app.inject({ method: 'GET', url: '/checkpoints/log/structure/000', remoteAddress });
    const lock = await world.pipeline.owner.connect();
    try {
      await lock.query('begin; lock table batches in access exclusive mode');
      const asked = Array.from({ length: 40 }, () => from('192.0.2.1'));
      const refused = (await Promise.all(asked.slice(33))).map(({ statusCode, headers }) => [
        statusCode,
        headers['retry-after'],
        headers['cache-control'],
      ]);
      expect(refused).toEqual(new Array(7).fill([503, '2', 'no-store']));
      const other = from('192.0.2.2');
      await lock.query('rollback');
      for (const one of [...asked.slice(0, 33), other]) expect((await one).statusCode).toBe(200);
    } finally {
      lock.release();
    }
    for (let i = 0; i < 200; i += 1) expect((await from('192.0.2.1')).statusCode).toBe(200);
  });

  it('is cut off where the tables turn out to contradict the ledger', async () => {
    const { owner } = world.pipeline;
    const url = `${await streaming.listen({ port: 0, host: '127.0.0.1' })}/checkpoints/log/structure/127`;
    await owner.query('create table cut as select * from sealed_events where batch = 100');
    await owner.query('delete from sealed_events where batch = 100');
    const cut = await fetch(url);
    expect(cut.status).toBe(200);
    await expect(cut.arrayBuffer()).rejects.toThrow();
    await owner.query('insert into sealed_events select * from cut');
    expect((await (await fetch(url)).arrayBuffer()).byteLength).toBe(
      (await get('/checkpoints/log/structure/127')).rawPayload.length,
    );
  });

  it('is not served where the tables contradict the ledger', async () => {
    const { owner } = world.pipeline;
    await owner.query('create table kept as select * from sealed_events where batch = 5');
    await owner.query('delete from sealed_events where batch = 5');
    const url = '/checkpoints/log/structure/005';
    // Not one that has the right file already.
    const fresh = serve([]);
    expect((await fresh.inject({ method: 'GET', url })).statusCode).toBe(500);
    await owner.query('insert into sealed_events select * from kept');
    expect((await fresh.inject({ method: 'GET', url })).statusCode).toBe(200);
    await fresh.close();
  });
});
