import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { formatVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { checkpointRoutes } from '../../../src/api/checkpoints/checkpoints.js';
import { ledgerTurns } from '../../../src/api/checkpoints/serve-documents.js';
import { createApp } from '../../../src/api/server/app.js';
import { runCheckContradiction } from '../../../verifier-cli/src/cli/contradiction-command.js';
import { runWatch, type WatchCommandOptions } from '../../../verifier-cli/src/network/watch/watch-command.js';
import { openLedgerWorld, ORIGIN as WORLD_ORIGIN } from '../../evidence/package/ledger-world.js';
import {
  type Announced,
  announce,
  checkpointText,
  keyPair,
  mlDsaLine,
  type NoteKey,
  noteKey,
  signedNote,
  Tree,
} from '../../support/independent-tlog.js';
import { listen, type RunningServer } from '../../support/running-witness.js';

const ORIGIN = 'ledger.example/test';

/** A ledger as a service serves it, and as its operator can bend it. */
interface Served {
  tree: Tree;
  /** Sizes and times of the stamped checkpoints. */
  sizes: readonly number[];
  time: string;
  key: NoteKey;
  /** Notes that are served in place of those of the tree. */
  readonly notes: Map<number, string>;
  announced: readonly Announced[];
  proof: (from: number, size: number) => readonly Buffer[];
}

let folder: string;
let served: Served;
let service: RunningServer;
let printed: string;
const pair = keyPair(ORIGIN);
const { key } = pair;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'watch-'));
  printed = '';
  served = {
    tree: Tree.random(5),
    sizes: [1, 5],
    time: new Date().toISOString(),
    key,
    notes: new Map(),
    announced: [],
    proof: (from, size) => served.tree.first(size).proof(from),
  };
  service = await listen(
    createServer((request, response) => {
      const answer = answerTo(request.url ?? '');
      response.writeHead(answer === null ? 404 : 200).end(answer);
    }),
  );
});
afterEach(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

function answerTo(url: string): string | null {
  const [, after] = /^\/checkpoints\/\?after=(\d+)$/.exec(url) ?? [];
  const [, noted] = /^\/checkpoints\/(\d+)\/note$/.exec(url) ?? [];
  const [, size, from] = /^\/checkpoints\/(\d+)\/consistency\/(\d+)$/.exec(url) ?? [];
  if (after !== undefined) {
    const sizes = served.sizes.filter((one) => one > Number(after));
    const checkpoints = sizes.map((one) => ({ size: one, time: served.time, note: '', tokens: [], authorities: [] }));
    return JSON.stringify({ data: { keys: [], checkpoints } });
  }
  if (url === '/checkpoints/keys') {
    const published = { published_at: served.time, ml_dsa_key: pair.mlDsa.vkey };
    const keys = [
      { ...published, key: pair.key.vkey, replaces: null, announcement: null },
      ...served.announced.map(({ proof }) => ({ ...published, key: '', replaces: '', announcement: proof })),
    ];
    return JSON.stringify({ data: { keys } });
  }
  if (noted !== undefined)
    return served.notes.get(Number(noted)) ?? noteOf(served.tree.first(Number(noted)), served.key);
  if (size === undefined || from === undefined) return null;
  const hashes = served.proof(Number(from), Number(size)).map((hash) => hash.toString('hex'));
  return JSON.stringify({ data: { from: Number(from), size: Number(size), hashes } });
}

const noteOf = (tree: Tree, by: NoteKey): string => signedNote(checkpointText(ORIGIN, tree), by);

const watch = (changes: Partial<WatchCommandOptions> = {}, url = service.url, signal = new AbortController().signal) =>
  runWatch(
    url,
    { ledgerKey: [key.vkey], state: folder, interval: '1s', maxAge: '24h', once: true, ...changes },
    (text) => {
      printed += text;
    },
    signal,
  );

const contradictions = async () => (await readdir(folder)).filter((name) => name.startsWith('contradiction-'));

/** Serves another size of this tree. */
function serve(tree: Tree, ...sizes: readonly number[]): void {
  served.tree = tree;
  served.sizes = sizes;
}

describe('an honest ledger', () => {
  test('is fine at the first look and as it grows', async () => {
    expect(await watch()).toBe(0);
    for (const by of [0, 1, 2, 8, 1]) {
      serve(served.tree.grown(by), 1, served.tree.size + by);
      expect(await watch(), printed).toBe(0);
    }
    expect(printed).toContain('FINE: the newest checkpoint 17 is of');
  });

  test('is watched with the keys of a trust policy, and not without any key', async () => {
    const policy = join(folder, 'trust.txt');
    await writeFile(policy, `log ${key.vkey}\nquorum none\n`);
    expect(await watch({ ledgerKey: [], trust: policy })).toBe(0);
    await expect(watch({ trust: policy })).rejects.toThrow('leave out --ledger-key');
    await expect(watch({ ledgerKey: [] })).rejects.toThrow('with --ledger-key or --trust');
  });

  test('may change its keys, if the keys before and after sign the first checkpoint over their announcement', async () => {
    await watch();
    const next = keyPair(ORIGIN);
    const announced = announce(ORIGIN, served.tree, pair, next);
    const { tree } = announced;
    served.notes.set(6, announced.note);
    serve(tree.grown(3), 6, 9);
    served.key = next.key;
    expect(await watch()).toBe(3);
    expect(printed).toContain('signed neither by a key that you gave nor by a successor of it');
    // An announcement that is too long for a proof is left out.
    const long = { ...announced.proof, header: ' '.repeat(200_000), entry: '' };
    served.announced = [{ ...announced, proof: long }, announced];
    expect(await watch(), printed).toBe(0);
    // An announcement that was learnt cannot be withheld later.
    served.announced = [];
    expect(await watch(), printed).toBe(0);
    // The contradiction of the new key is proved with the key that was given.
    serve(tree.first(5).grown(4), 9);
    expect(await watch(), printed).toBe(1);
    const [proof] = await contradictions();
    await writeFile(join(folder, 'ledger.vkey'), key.vkey);
    const options = { ledgerKey: [join(folder, 'ledger.vkey')] };
    expect(await runCheckContradiction(join(folder, proof ?? ''), options, () => undefined)).toBe(0);
  });

  test('is found with the path /checkpoints/ as well', async () => {
    expect(await watch({}, `${service.url}/checkpoints/`)).toBe(0);
  });
});

describe('a dishonest ledger', () => {
  beforeEach(async () => {
    expect(await watch()).toBe(0);
  });

  test.each<[string, () => void]>([
    ['forks at the size that was seen', () => serve(Tree.random(5), 5)],
    ['rewrites what was seen, and proves the rewritten history', () => serve(Tree.random(9), 9)],
    ['rewrites only the last batch that was seen', () => serve(served.tree.first(4).grown(5), 9)],
  ])('that %s is proved, and others can confirm it', async (_, lie) => {
    const before = await readFile(join(folder, 'watch.json'), 'utf8');
    lie();
    expect(await watch(), printed).toBe(1);
    const [proof, ...more] = await contradictions();
    expect(more).toEqual([]);
    await writeFile(join(folder, 'ledger.vkey'), key.vkey);
    const options = { ledgerKey: [join(folder, 'ledger.vkey')] };
    let text = '';
    const write = (part: string) => (text += part);
    expect(await runCheckContradiction(join(folder, proof ?? ''), options, write)).toBe(0);
    expect(text).toContain('PROVED');
    expect(await readFile(join(folder, 'watch.json'), 'utf8')).toBe(before);
    // The alarm stays until the operator of the monitor acts.
    expect(await watch()).toBe(1);
    expect(await contradictions()).toEqual([proof]);
  });

  test('that rewrites after a size that is a power of two is proved from an older checkpoint', async () => {
    serve(served.tree.grown(3), 8);
    expect(await watch()).toBe(0);
    serve(Tree.random(11), 11);
    expect(await watch(), printed).toBe(1);
    expect(await contradictions()).toHaveLength(1);
  });

  test.each<[string, () => void, RegExp]>([
    ['rolls back', () => serve(served.tree, 1, 4), /no longer lists checkpoint 5/],
    [
      'serves a wrong proof',
      () => {
        serve(served.tree.grown(4), 9);
        served.proof = () => [Buffer.alloc(32)];
      },
      /checkpoint 9 is not shown to extend checkpoint 5/,
    ],
    [
      'serves no proof',
      () => {
        serve(served.tree.grown(4), 9);
        served.proof = () => [];
      },
      /checkpoint 9 is not shown to extend checkpoint 5/,
    ],
    [
      'signs with an unknown key',
      () => {
        serve(served.tree.grown(4), 9);
        served.key = noteKey(ORIGIN);
      },
      /signed neither/,
    ],
    [
      'serves a note that is none',
      () => {
        serve(served.tree.grown(4), 9);
        served.notes.set(9, 'garbage');
      },
      /serves no checkpoint note of size 9/,
    ],
    [
      'serves the note of another size',
      () => {
        serve(served.tree.grown(4), 9);
        served.notes.set(9, noteOf(served.tree.first(7), key));
      },
      /serves no checkpoint note of size 9/,
    ],
    [
      'lists no later checkpoint, for ever',
      () => {
        served.time = new Date(Date.now() - 25 * 3_600_000).toISOString();
      },
      /stale/,
    ],
    [
      'announces keys in a checkpoint that the old key did not sign',
      () => {
        const next = keyPair(ORIGIN);
        const unsigned = announce(ORIGIN, served.tree, keyPair(ORIGIN), next);
        serve(unsigned.tree.grown(3), 9);
        served.announced = [unsigned];
        served.key = next.key;
      },
      /signed neither/,
    ],
    [
      'announces keys in a checkpoint of a ledger without the announcement',
      () => {
        const next = keyPair(ORIGIN);
        const announced = announce(ORIGIN, served.tree, pair, next);
        const other = served.tree.grown(1);
        const text = checkpointText(ORIGIN, other);
        const lines = [pair, next].map(({ mlDsa }) => mlDsaLine(mlDsa, text, 0)).join('');
        const note = signedNote(text, pair.key, next.key) + lines;
        serve(announced.tree.grown(3), 9);
        served.announced = [{ ...announced, proof: { ...announced.proof, note } }];
        served.key = next.key;
      },
      /signed neither/,
    ],
  ])('that %s raises an alarm, but is no contradiction', async (_, lie, message) => {
    lie();
    expect(await watch()).toBe(3);
    expect(printed).toMatch(message);
    expect(await contradictions()).toEqual([]);
  });

  test('that dates an old checkpoint anew is stale by the clock of the monitor', async () => {
    const path = join(folder, 'watch.json');
    const yesterday = new Date(Date.now() - 25 * 3_600_000).toISOString();
    const state = await readFile(path, 'utf8');
    await writeFile(path, state.replace(/"seen_at":"[^"]+"/, `"seen_at":"${yesterday}"`));
    expect(await watch()).toBe(3);
    expect(await watch({ maxAge: '26h' })).toBe(0);
  });
});

describe('a monitor', () => {
  test('reports each new alarm to its webhook once', async () => {
    const alarms: string[] = [];
    const webhook = await listen(
      createServer(async (request, response) => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(Buffer.from(chunk));
        alarms.push(Buffer.concat(chunks).toString());
        response.writeHead(204).end();
      }),
    );
    await watch();
    serve(Tree.random(5), 5);
    expect(await watch({ webhook: webhook.url })).toBe(1);
    const Alarm = z.looseObject({ outcome: z.string(), url: z.string(), contradiction: z.looseObject({}) });
    expect(alarms.map((text) => Alarm.parse(JSON.parse(text)))).toMatchObject([
      {
        format: 'consent-verify-watch',
        outcome: 'contradiction',
        url: service.url,
        contradiction: { kind: 'checkpoints' },
      },
    ]);
    serve(served.tree, 1);
    const stopping = new AbortController();
    const running = watch({ webhook: webhook.url, once: false }, service.url, stopping.signal);
    while (printed.split('UNDECIDED').length < 3) await new Promise((resolve) => setTimeout(resolve, 50));
    stopping.abort();
    expect(await running).toBe(3);
    expect(alarms).toHaveLength(2);
    await webhook.stop();
    expect(await watch({ webhook: webhook.url })).toBe(3);
    expect(printed).toContain('The webhook was not informed');
  });

  test('is undecided if the service does not answer, or is none', async () => {
    expect(await watch({}, 'http://127.0.0.1:9')).toBe(3);
    const other = await listen(createServer((_, response) => response.end('<html>')));
    expect(await watch({}, other.url)).toBe(3);
    await other.stop();
    await expect(watch({}, 'ftp://ledger.example')).rejects.toThrow(/is not a URL/);
  });

  test('does not take a damaged state for none', async () => {
    await watch();
    await writeFile(join(folder, 'watch.json'), '{"v":1');
    await expect(watch()).rejects.toThrow(/damaged/);
  });

  test('watches the real service', async () => {
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
    const url = await app.listen({ port: 0, host: '127.0.0.1' });
    const ledgerKey = [formatVerifierKey(WORLD_ORIGIN, world.ledgerKey.publicKey)];
    expect(await watch({ ledgerKey }, url)).toBe(3);
    expect(printed).toContain('no stamped checkpoint yet');
    for (let round = 0; round < 3; round += 1) {
      await world.record(world.site, [{ visitorId: 'ann' }, { visitorId: 'ben' }]);
      await world.stamp(1);
      expect(await watch({ ledgerKey }, url), printed).toBe(0);
    }
    await app.close();
    await world.close();
  });
});
