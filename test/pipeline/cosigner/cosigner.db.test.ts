import { readFile, rm } from 'node:fs/promises';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { LEDGER_RESTORED } from '../../../schemas/events/ledger.js';
import { parseWitnessKey } from '../../../schemas/evidence/cosignature.js';
import { formatVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { checkpointRoutes } from '../../../src/api/checkpoints/checkpoints.js';
import { ledgerTurns } from '../../../src/api/checkpoints/serve-documents.js';
import { createApp } from '../../../src/api/server/app.js';
import { rotateLedgerKey } from '../../../src/app/rotate-ledger-key.js';
import { exportEvidence } from '../../../src/evidence/package/index.js';
import { askWitness, createCosigner } from '../../../src/pipeline/cosigner/cosigner.js';
import { LedgerRolledBack } from '../../../src/pipeline/ledger/errors.js';
import type { WitnessAddress } from '../../../src/platform/config/index.js';
import { createTimestampClient } from '../../../src/timestamping/client.js';
import { startDevelopmentTsa } from '../../../src/timestamping/development-tsa/start.js';
import { memorySource, verifyPackage } from '../../../verifier-cli/src/index.js';
import { CERTIFICATE_LABEL, derBlocks } from '../../../verifier-cli/src/trust/trust-material.js';
import { type LedgerWorld, ORIGIN, openLedgerWorld } from '../../evidence/package/ledger-world.js';
import { problemsOf, unpack } from '../../evidence/package/reading-packages.js';
import { cosignatureLine, cosignatureTime, type NoteKey, noteKey } from '../../support/independent-tlog.js';
import { listenWith, type RunningServer, type RunningWitness, runWitness } from '../../support/running-witness.js';
import { UNGUARDED } from '../../support/unguarded.js';
import { until } from '../../support/wait.js';
import { silent, whileRunning } from '../relay/pipeline.js';

let world: LedgerWorld;
let ledgerKey: string;
let running: RunningServer[] = [];

async function open(): Promise<void> {
  world = await openLedgerWorld();
  ledgerKey = formatVerifierKey(ORIGIN, world.ledgerKey.publicKey);
  await grow();
}
async function stopServers(): Promise<void> {
  await Promise.all(running.map((server) => server.stop()));
  running = [];
}

/** Records, seals and stamps more. */
async function grow(): Promise<void> {
  const visitors = ['ann', 'ben', 'cem'].map((visitorId) => ({ visitorId }));
  await world.record(world.site, visitors);
  await world.stamp(1);
}

async function witness(name: string, keys: readonly string[] = [ledgerKey]): Promise<RunningWitness> {
  const started = await runWitness(world.folder, name, keys);
  running.push(started);
  return started;
}

const addressOf = ({ url }: { readonly url: string }, ...vkeys: readonly string[]): WitnessAddress => {
  const keys = vkeys.map((vkey) => {
    const key = parseWitnessKey(vkey);
    if (key === null) throw new Error(`not a key of a witness: ${vkey}`);
    return key;
  });
  return { url, name: keys[0]?.name ?? '', keys };
};

const cosigner = (witnesses: readonly WitnessAddress[], timeoutMs = 60_000) =>
  createCosigner({
    db: world.pipeline.worker,
    logger: silent,
    witnesses,
    pollMs: 10,
    timeoutMs,
    backOff: { firstMs: 10, longestMs: 20 },
  });

const Stored = z.array(z.object({ size: z.int(), line: z.string(), note: z.string() }));
const NewestRow = z.tuple([z.object({ size: z.int() })]);

/** The stored cosignatures with their notes, by size. */
async function stored(vkey: string) {
  const { rows } = await world.pipeline.owner.query(
    'select s.size, s.line, c.note from cosignatures s join checkpoints c using (size) where s.witness = $1 order by s.size',
    [vkey],
  );
  return Stored.parse(rows);
}

async function newestSize(): Promise<number> {
  const { rows } = await world.pipeline.owner.query('select max(size)::int as size from checkpoints');
  return NewestRow.parse(rows)[0].size;
}

/** Whether a stored cosignature of the newest checkpoint is valid, checked without the project's code. */
async function isCosigned(vkey: string): Promise<boolean> {
  const last = (await stored(vkey)).at(-1);
  if (last?.size !== (await newestSize())) return false;
  const text = last.note.slice(0, last.note.lastIndexOf('\n\n') + 1);
  expect(cosignatureTime(last.line, vkey, text)).toBeGreaterThan(Date.now() / 1000 - 60);
  return true;
}

describe('an honest witness', () => {
  beforeEach(open);
  afterEach(async () => {
    await stopServers();
    await world.close();
  });

  test('obtains a cosignature of each witness over each new checkpoint, and leaves the note unchanged', async () => {
    const [one, two] = [await witness('w.example/1'), await witness('w.example/2')];
    const before = await world.pipeline.owner.query(
      'select c.note, t.tsr from checkpoints c join checkpoint_tokens t on t.size = c.size order by c.size, t.number',
    );
    await whileRunning([cosigner([addressOf(one, ...one.vkeys), addressOf(two, two.vkey)])], async () => {
      for (let round = 0; round < 3; round += 1) {
        await until(async () => (await isCosigned(one.vkey)) && (await isCosigned(two.vkey)));
        await grow();
      }
      await until(async () => (await isCosigned(one.vkey)) && (await isCosigned(two.vkey)));
    });
    for (const vkey of [...one.vkeys, two.vkey]) expect(await stored(vkey)).toHaveLength(4);
    const after = await world.pipeline.owner.query(
      'select c.note, t.tsr from checkpoints c join checkpoint_tokens t on t.size = c.size order by c.size, t.number',
    );
    expect(after.rows.slice(0, before.rows.length)).toEqual(before.rows);
  });

  test('obtains the cosignature of a key that is configured later', async () => {
    const one = await witness('w.example/1');
    const [, mlDsa = ''] = one.vkeys;
    await whileRunning([cosigner([addressOf(one, one.vkey)])], () => until(() => isCosigned(one.vkey)));
    expect(await isCosigned(mlDsa)).toBe(false);
    await whileRunning([cosigner([addressOf(one, ...one.vkeys)])], () => until(() => isCosigned(mlDsa)));
    expect(await stored(one.vkey)).toHaveLength(1);
  });

  test('serves and exports the cosignatures, and the verifier counts them', async () => {
    const one = await witness('w.example/1');
    await whileRunning([cosigner([addressOf(one, ...one.vkeys)])], () => until(() => isCosigned(one.vkey)));
    const size = await newestSize();
    const found = await Promise.all(one.vkeys.map(stored));
    const lines = found.map(([cosignature]) => cosignature?.line);

    const { worker: db, eventLog } = world.pipeline;
    const app = createApp({ log: pino({ level: 'silent' }), trustedProxies: [] }, [
      (scope) =>
        checkpointRoutes(
          scope,
          world.pipeline.newPool('consent_ledger_api'),
          async () => null,
          ledgerTurns(() => 0),
        ),
    ]);
    const answer = await app.inject(`/checkpoints/${size}/cosignatures`);
    expect(answer).toMatchObject({
      statusCode: 200,
      headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, max-age=10' },
    });
    expect(answer.body.split(/(?<=\n)/).toSorted()).toEqual(lines.toSorted());
    expect((await app.inject(`/checkpoints/${size + 1}/cosignatures`)).json()).toMatchObject({
      code: 'CHECKPOINT_NOT_FOUND',
    });
    await app.close();

    const output = join(world.folder, 'cosigned.zip');
    const request = { siteId: world.site.siteId, filter: {}, disclose: 'all', output, exportedBy: 'test' } as const;
    await exportEvidence({ db, eventLog, keyring: world.keyring, origin: ORIGIN }, request);
    expect(String((await unpack(output)).get(`checkpoints/${size}.cosignatures`))).toBe(answer.body);
    const { keys } = addressOf(one, ...one.vkeys);
    const report = await verifyPackage(memorySource(new Uint8Array(await readFile(output))), {
      trustAnchors: [world.tsaRoot],
      ledgerKeys: [world.ledgerKey],
      witnesses: { keys, required: 1 },
      maxDelay: 24 * 3_600_000,
      at: new Date(),
    });
    expect(problemsOf(report)).toEqual([]);
    expect(report.witnesses).toMatchObject({ checkpoint: size, cosigned: [{ name: 'w.example/1' }] });
  });

  test('finds the size of a witness that it does not know, and of one that lost its state', async () => {
    const one = await witness('w.example/1');
    const part = cosigner([addressOf(one, one.vkey)]);
    await whileRunning([part], () => until(() => isCosigned(one.vkey)));
    await world.pipeline.owner.query('delete from witnesses');
    await grow();
    await whileRunning([part], () => until(() => isCosigned(one.vkey)));

    await one.stop();
    running = [];
    await rm(join(world.folder, 'w.example-1'), { recursive: true });
    const empty = await witness('w.example/1');
    await grow();
    await whileRunning([cosigner([addressOf(empty, one.vkey)])], () => until(() => isCosigned(one.vkey)));
  });

  test('obtains the cosignature again that a crash of the service lost', async () => {
    const one = await witness('w.example/1');
    const part = cosigner([addressOf(one, one.vkey)]);
    await whileRunning([part], () => until(() => isCosigned(one.vkey)));
    await world.pipeline.owner.query('delete from cosignatures');
    await whileRunning([part], () => until(() => isCosigned(one.vkey)));
  });

  test('cosigns after a change of the keys as soon as it is given the new ones', async () => {
    const one = await witness('w.example/1');
    await whileRunning([cosigner([addressOf(one, one.vkey)])], () => until(() => isCosigned(one.vkey)));
    const tsa = await startDevelopmentTsa({ folder: join(world.folder, 'rotation-tsa') });
    const root = derBlocks(new Uint8Array(await readFile(tsa.rootCertificatePemPath)), CERTIFICATE_LABEL);
    const client = createTimestampClient({ authorities: [tsa.url], trustAnchors: root });
    const rotate = () => {
      const { worker: db, eventLog } = world.pipeline;
      const trust = { client, trustAnchors: [world.tsaRoot, ...root] };
      return rotateLedgerKey(
        { db, eventLog, keyring: world.keyring, origin: ORIGIN, guard: UNGUARDED, quorum: 1, ...trust },
        new AbortController().signal,
      );
    };
    // The old key signed the first checkpoint over the announcement too.
    await rotate();
    await whileRunning([cosigner([addressOf(one, one.vkey)])], () => until(() => isCosigned(one.vkey)));
    const { to } = await rotate();
    await tsa.stop();
    const part = cosigner([addressOf(one, one.vkey)]);
    await whileRunning([part], () => until(() => part.status().witnesses_failing === 1));
    expect(await isCosigned(one.vkey)).toBe(false);
    await one.stop();
    running = [];
    const informed = await witness('w.example/1', [to]);
    await whileRunning([cosigner([addressOf(informed, one.vkey)])], () => until(() => isCosigned(one.vkey)));
  });
});

describe('a witness that misbehaves', () => {
  beforeAll(open);
  afterEach(stopServers);
  afterAll(() => world.close());

  const key = noteKey('bad.example', 4);
  /** The text of the submitted checkpoint. */
  const submitted = async (request: Parameters<RequestListener>[0]): Promise<string> => {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(Buffer.from(chunk));
    const body = Buffer.concat(chunks).toString();
    const note = body.slice(body.indexOf('\n\n') + 2);
    return note.slice(0, note.lastIndexOf('\n\n') + 1);
  };
  const answering =
    (status: number, make: (text: string) => string | Buffer, type = 'text/plain'): RequestListener =>
    async (request, response) => {
      const body = make(await submitted(request));
      response.writeHead(status, { 'content-type': type }).end(body);
    };
  const now = () => Math.floor(Date.now() / 1000);
  const impostor: NoteKey = { ...noteKey('bad.example', 4), id: key.id };

  /** Time for a request to a witness that gives no end of an answer: one that answers needs less on every machine. */
  const WAITS_MS = 2_000;
  test.each<[string, RequestListener, timeoutMs?: number]>([
    ['answers garbage', answering(200, () => 'garbage')],
    ['answers nothing', answering(200, () => '')],
    ['answers bytes that are not UTF-8', answering(200, () => Buffer.from([0xff, 0xfe, 0x0a]))],
    [
      'answers a cosignature of another key',
      answering(200, (text) => cosignatureLine(noteKey('bad.example', 4), text, now())),
    ],
    [
      'answers an invalid cosignature under the right key id',
      answering(200, (text) => cosignatureLine(impostor, text, now())),
    ],
    ['answers a cosignature over another text', answering(200, (text) => cosignatureLine(key, `${text}x\n`, now()))],
    ['states a time an hour ago', answering(200, (text) => cosignatureLine(key, text, now() - 3_600))],
    ['answers more than 64 KiB', answering(200, (text) => cosignatureLine(key, text, now()).repeat(1_000))],
    ['answers 409 without a size', answering(409, () => 'soon\n', 'text/x.tlog.size')],
    ['answers 409 with another content type', answering(409, () => '1\n')],
    ['answers 409 with a size beyond the ledger', answering(409, () => '4000\n', 'text/x.tlog.size')],
    ['answers another size each time', answering(409, () => `${Math.ceil(Math.random() * 3)}\n`, 'text/x.tlog.size')],
    ['answers 403', answering(403, () => 'no\n')],
    ['answers 422', answering(422, () => 'no\n')],
    ['redirects', (_, response) => response.writeHead(307, { location: 'http://127.0.0.1:1/' }).end()],
    ['never answers', () => undefined, WAITS_MS],
    [
      'sends its answer byte by byte',
      (_, response) => {
        response.writeHead(200);
        const timer = setInterval(() => response.write('x'), 50);
        response.on('close', () => clearInterval(timer));
      },
      WAITS_MS,
    ],
    [
      'breaks off',
      (_, response) => {
        response.writeHead(200, { 'content-length': 100 }).write('\u2014');
        response.destroy();
      },
    ],
  ])('that %s is not believed, and delays neither another witness nor a stamp', async (_, listener, timeoutMs) => {
    const bad = await listenWith(listener);
    running.push(bad);
    const good = await witness('w.example/1');
    const part = cosigner([addressOf(bad, key.vkey), addressOf(good, good.vkey)], timeoutMs);
    await whileRunning([part], async () => {
      await until(async () => Number(part.status().failures_in_a_row) >= 2);
      await grow();
      await until(() => isCosigned(good.vkey));
    });
    expect(part.status()).toMatchObject({ witnesses_failing: 1 });
    expect(await stored(key.vkey)).toEqual([]);
  });
});

describe('a witness that is asked for its head', () => {
  beforeEach(open);
  afterEach(async () => {
    await stopServers();
    await world.close();
  });

  const ask = (address: WitnessAddress) =>
    askWitness(
      world.pipeline.worker,
      { ...address, fetch: globalThis.fetch, timeoutMs: 60_000, now: () => new Date() },
      new AbortController().signal,
    );

  test('refuses a ledger that is shorter than what it cosigned, or other', async () => {
    const one = await witness('w.example/1');
    const address = addressOf(one, one.vkey);
    await ask(address);
    await grow();
    await ask(address);
    expect(await isCosigned(one.vkey)).toBe(true);

    // The database as it was before the last checkpoint.
    const { owner } = world.pipeline;
    await owner.query('delete from cosignatures');
    await owner.query('delete from witnesses');
    await owner.query('delete from checkpoint_tokens where size = (select max(size) from checkpoints)');
    await owner.query('delete from checkpoints where size = (select max(size) from checkpoints)');
    await expect(ask(address)).rejects.toThrow(LedgerRolledBack);

    const accepted = { head: { size: 1_000 } };
    const insert =
      'insert into ledger_events (revision, event_id, type, body) values (1000000, gen_random_uuid(), $1, $2)';
    await owner.query(insert, [LEDGER_RESTORED, Buffer.from(JSON.stringify(accepted))]);
    await ask(address);
  });

  test('refuses a ledger whose root is another one at the size that it cosigned', async () => {
    const other = await listenWith((_request, response) => {
      response.writeHead(422).end('the proof does not lead to the root\n');
    });
    running.push(other);
    const one = await witness('w.example/1');
    await ask(addressOf(one, one.vkey));
    await expect(ask({ ...addressOf(one, one.vkey), url: other.url })).rejects.toThrow(LedgerRolledBack);
  });
});
