import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance } from 'fastify';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { CheckpointsResponse, ConsistencyResponse, MAX_CHECKPOINTS } from '../../../schemas/api/checkpoints.js';
import { fromHex } from '../../../schemas/crypto/encoding.js';
import { ProvedEntry } from '../../../schemas/evidence/contradiction.js';
import { keyLineOf, parseNote, parseVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { verifyCheckpoint } from '../../../schemas/evidence/verify-note.js';
import { treeRoot } from '../../../schemas/merkle/tree.js';
import { verifyConsistency } from '../../../schemas/merkle/verify-consistency.js';
import { checkpointRoutes } from '../../../src/api/checkpoints/checkpoints.js';
import { ledgerTurns } from '../../../src/api/checkpoints/serve-documents.js';
import { createApp } from '../../../src/api/server/app.js';
import { rotateLedgerKey } from '../../../src/app/rotate-ledger-key.js';
import { pemOfCertificates } from '../../../src/timestamping/authorities.js';
import { createTimestampClient } from '../../../src/timestamping/client.js';
import { startDevelopmentTsa } from '../../../src/timestamping/development-tsa/start.js';
import { followAnnouncements } from '../../../verifier-cli/src/ledger/announcements.js';
import { CERTIFICATE_LABEL, derBlocks } from '../../../verifier-cli/src/trust/trust-material.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from '../../evidence/package/ledger-world.js';
import { UNGUARDED } from '../../support/unguarded.js';
import { parseLinkHeader } from '../discovery/formats/link-header.js';

const KeysResponse = z.strictObject({
  data: z.strictObject({
    keys: z.array(
      z.strictObject({
        key: z.string(),
        ml_dsa_key: z.string(),
        replaces: z.string().nullable(),
        announcement: z.unknown(),
        published_at: z.iso.datetime(),
      }),
    ),
  }),
});

describe('the ledger in public', () => {
  let world: LedgerWorld;
  let app: FastifyInstance;
  beforeAll(async () => {
    world = await openLedgerWorld();
    const pool = world.pipeline.worker;
    app = createApp({ log: pino({ level: 'silent' }), trustedProxies: [] }, [
      (scope) =>
        checkpointRoutes(
          scope,
          pool,
          async () => pemOfCertificates([world.tsaRoot]),
          ledgerTurns(() => 0),
        ),
    ]);
    for (const visitors of [
      ['ann', 'ben', 'cem'],
      ['dan', 'eda', 'fay', 'gil'],
    ]) {
      await world.record(
        world.site,
        visitors.map((visitorId) => ({ visitorId })),
      );
      await world.stamp(1);
    }
    await world.record(world.site, [{ visitorId: 'hal' }]);
    await world.seal(1);
  });
  afterAll(async () => {
    await app.close();
    await world.close();
  });

  const get = (url: string, headers: Record<string, string> = {}) => app.inject({ method: 'GET', url, headers });
  const list = async () => CheckpointsResponse.parse((await get('/checkpoints/')).json()).data;
  const keys = async () => KeysResponse.parse((await get('/checkpoints/keys')).json()).data.keys;

  it('gives the root certificates as a verifier reads them', async () => {
    const { rawPayload } = await get('/checkpoints/tsa-roots.pem');
    expect(derBlocks(new Uint8Array(rawPayload), CERTIFICATE_LABEL)).toEqual([world.tsaRoot]);
  });

  /** The leaf hashes of the ledger tree, from the database. */
  const leaves = async (): Promise<readonly Uint8Array[]> => {
    const { rows } = await world.pipeline.worker.query('select hash from ledger_nodes where level = 0 order by index');
    return z
      .array(z.object({ hash: z.instanceof(Buffer) }))
      .parse(rows)
      .map(({ hash }) => new Uint8Array(hash));
  };

  it('proves consistency between any two sizes up to the newest stamped one, and no others', async () => {
    const newest = (await list()).checkpoints.at(-1)?.size ?? 0;
    const hashes = await leaves();
    expect(newest).toBeGreaterThan(6);
    expect(hashes.length).toBeGreaterThan(newest);
    for (let size = 2; size <= newest; size += 1) {
      for (let from = 1; from < size; from += 1) {
        const answer = await get(`/checkpoints/${size}/consistency/${from}`);
        const { data } = ConsistencyResponse.parse(answer.json());
        expect(data).toMatchObject({ from, size });
        const path = data.hashes.map((hash) => fromHex(hash) ?? new Uint8Array());
        const roots = [treeRoot(hashes.slice(0, from)), treeRoot(hashes.slice(0, size))] as const;
        expect(verifyConsistency(from, size, ...roots, path), `${from} to ${size}`).toEqual({ ok: true });
      }
    }
    for (const [size, from] of [
      [newest + 1, 1],
      [newest, newest],
      [newest, newest + 1],
      [newest, 0],
      [`0${newest}`, 1],
      ['9007199254740992', 1],
    ]) {
      const answer = await get(`/checkpoints/${size}/consistency/${from}`);
      expect(answer.statusCode, `${from} to ${size}`).toBe(404);
      expect(answer.json()).toMatchObject({ code: 'CHECKPOINT_NOT_FOUND' });
      expect(answer.headers['cache-control']).toBe('no-store');
    }
  });

  it('serves what is frozen for ever, and the rest for a while; to HEAD and to whoever holds it already, too', async () => {
    const { checkpoints } = await list();
    const [first] = checkpoints;
    if (first === undefined) throw new Error('there is no checkpoint');
    const forever = 'public, max-age=31536000, immutable';
    const json = 'application/json; charset=utf-8';
    const cases = [
      [first.note, 'text/plain; charset=utf-8', forever],
      [first.tokens[0] ?? '', 'application/timestamp-reply', forever],
      [`/checkpoints/${first.size}/consistency/1`, json, forever],
      ['/checkpoints', json, 'public, max-age=10'],
      ['/checkpoints/', json, 'public, max-age=10'],
      ['/checkpoints/keys', json, 'public, max-age=300'],
      ['/checkpoints/ledger.vkey', 'text/plain; charset=utf-8', 'public, max-age=300'],
      ['/checkpoints/tsa-roots.pem', 'application/pem-certificate-chain', 'public, max-age=300'],
    ] as const;
    for (const [path, type, cacheControl] of cases) {
      const answer = await get(path);
      const etag = String(answer.headers.etag);
      const expected = { etag, 'cache-control': cacheControl, 'access-control-allow-origin': '*' };
      expect(answer, path).toMatchObject({ statusCode: 200, headers: { ...expected, 'content-type': type } });
      const head = await app.inject({ method: 'HEAD', url: path });
      expect(head, path).toMatchObject({ statusCode: 200, body: '', headers: { ...expected, 'content-type': type } });
      expect(head.headers['content-length'], path).toBe(String(answer.rawPayload.length));
      const again = await get(path, { 'if-none-match': etag });
      expect(again, path).toMatchObject({ statusCode: 304, body: '', headers: expected });
      expect((await get(path, { 'if-none-match': '"other"' })).statusCode, path).toBe(200);
    }
    expect((await get('/checkpoints/')).body).toBe((await get('/checkpoints')).body);
  });

  it('lists in pages, each of which names the next one', async () => {
    const { checkpoints } = await list();
    expect((await get('/checkpoints/')).headers.link).toBeUndefined();
    const [first, ...rest] = checkpoints;
    const after = CheckpointsResponse.parse((await get(`/checkpoints/?after=${first?.size}`)).json()).data;
    expect(after.checkpoints).toEqual(rest);
    expect((await get('/checkpoints/?after=-1')).statusCode).toBe(422);

    const { owner } = world.pipeline;
    const base = 1_000_000;
    await owner.query(
      `insert into checkpoints (size, note, tokens, gen_time, authorities, certificates, crls, ocsp)
       select $1 + i, 'note', 1, now(), '{test}', '{}', '{}', '{}' from generate_series(1, $2::int) i`,
      [base, 2 * MAX_CHECKPOINTS - checkpoints.length + 5],
    );
    try {
      const sizes: number[] = [];
      const pages: number[] = [];
      for (let next: string | undefined = '/checkpoints/'; next !== undefined; ) {
        const answer = await get(next);
        const page = CheckpointsResponse.parse(answer.json()).data.checkpoints;
        sizes.push(...page.map(({ size }) => size));
        pages.push(page.length);
        const [link] = parseLinkHeader(String(answer.headers.link ?? ''));
        expect(link?.parameters ?? { rel: 'next' }).toEqual({ rel: 'next' });
        next = link?.target;
      }
      expect(pages).toEqual([MAX_CHECKPOINTS, MAX_CHECKPOINTS, 5]);
      expect(sizes).toEqual([...new Set(sizes)].sort((a, b) => a - b));
    } finally {
      await owner.query('delete from checkpoints where size > $1', [base]);
    }
  });

  it('publishes every key of the ledger, the one in force, and the proof that each was announced', async () => {
    const before = await keys();
    expect(before).toHaveLength(1);
    expect(before[0]).toMatchObject({ replaces: null, announcement: null });
    const tsa = await startDevelopmentTsa({ folder: join(world.folder, 'rotation-tsa') });
    const { worker: pool, eventLog } = world.pipeline;
    const rotate = async () =>
      rotateLedgerKey(
        {
          ...{
            db: pool,
            eventLog,
            keyring: world.keyring,
            origin: ORIGIN,
            guard: UNGUARDED,
            trustAnchors: [world.tsaRoot, await rootOf(tsa)],
          },
          client: createTimestampClient({ authorities: [tsa.url], trustAnchors: [await rootOf(tsa)] }),
          quorum: 1,
        },
        new AbortController().signal,
      );
    const rotations = [await rotate(), await rotate()];
    await tsa.stop();

    const all = await keys();
    expect(all.map(({ key }) => key)).toEqual([before[0]?.key, ...rotations.map(({ to }) => to)]);
    expect((await list()).keys).toEqual(all.flatMap((one) => [one.key, one.ml_dsa_key]));
    expect((await get('/checkpoints/ledger.vkey')).body).toBe(`${all.at(-1)?.key}\n${all.at(-1)?.ml_dsa_key}\n`);
    const proofs = all.slice(1).map(({ announcement }) => ProvedEntry.parse(announcement));
    for (const [i, { note: text }] of proofs.entries()) {
      const [before, after] = all.slice(i, i + 2);
      expect(after?.replaces).toBe(before?.key);
      const note = parseNote(text);
      for (const line of [before, after].flatMap((one) => (one === undefined ? [] : [one.key, one.ml_dsa_key]))) {
        const verifierKey = parseVerifierKey(line);
        expect(note && verifierKey && (await verifyCheckpoint(note, verifierKey))).toBe('signed');
      }
    }
    const chain = await followAnnouncements(proofs, null);
    expect(chain.problem).toBeNull();
    expect(chain.announcements.map(({ keys }) => keys.map(keyLineOf))).toEqual(
      all.slice(1).map((one) => [one.key, one.ml_dsa_key]),
    );
  });
});

async function rootOf({ rootCertificatePemPath }: { readonly rootCertificatePemPath: string }): Promise<Uint8Array> {
  return derBlocks(new Uint8Array(await readFile(rootCertificatePemPath)), CERTIFICATE_LABEL)[0] ?? new Uint8Array();
}

describe('before the ledger has a key', () => {
  it('there is none to be had', async () => {
    const world = await openLedgerWorld();
    const pool = world.pipeline.worker;
    const app = createApp({ log: pino({ level: 'silent' }), trustedProxies: [] }, [
      (scope) =>
        checkpointRoutes(
          scope,
          pool,
          async () => null,
          ledgerTurns(() => 0),
        ),
    ]);
    const answer = await app.inject('/checkpoints/ledger.vkey');
    expect(answer).toMatchObject({ statusCode: 404, headers: { 'cache-control': 'no-store' } });
    expect(answer.json()).toMatchObject({ code: 'RESOURCE_NOT_FOUND' });
    expect((await app.inject('/checkpoints/keys')).json()).toEqual({ data: { keys: [] } });
    const roots = await app.inject('/checkpoints/tsa-roots.pem');
    expect(roots.json()).toMatchObject({ code: 'RESOURCE_NOT_FOUND', message: expect.stringContaining('authorities') });
    await app.close();
    await world.close();
  });
});
