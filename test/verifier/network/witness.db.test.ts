import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import type { Server } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { parseVerifierKey } from '../../../schemas/evidence/signed-note.js';
import { createWitness, type WitnessOptions } from '../../../verifier-cli/src/network/witness/server.js';
import { openWitnessState, type WitnessState } from '../../../verifier-cli/src/network/witness/state.js';
import {
  createWitnessKey,
  readWitnessKey,
  type WitnessSigner,
} from '../../../verifier-cli/src/network/witness/witness-key.js';
import {
  addCheckpointBody,
  checkpointText,
  cosignatureTime,
  type NoteKey,
  noteKey,
  signedNote,
  Tree,
} from '../../support/independent-tlog.js';

const ORIGIN = 'ledger.example/test';
let folder: string;
let signer: WitnessSigner;
let ledgerKey: NoteKey;
let state: WitnessState;
let server: Server;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'witness-'));
  signer = await createWitnessKey(join(folder, 'witness.key'), 'witness.example/w1');
  ledgerKey = noteKey(ORIGIN);
  await start();
});
afterEach(async () => {
  await stop();
  await rm(folder, { recursive: true });
});

async function start(changes: Partial<WitnessOptions> = {}, keys: readonly NoteKey[] = [ledgerKey]): Promise<void> {
  state = await openWitnessState(join(folder, 'state'));
  const ledgerKeys = keys.flatMap(({ vkey }) => parseVerifierKey(vkey) ?? []);
  server = createWitness({ signer, state, ledgerKeys, log: () => undefined, ...changes });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
}

async function stop(): Promise<void> {
  server.closeAllConnections();
  if (server.listening) await new Promise((resolve) => server.close(resolve));
  await state.close();
}

function url(): string {
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('the witness does not listen');
  return `http://127.0.0.1:${address.port}`;
}

const post = (body: string | Uint8Array, path = '/add-checkpoint') =>
  fetch(`${url()}${path}`, { method: 'POST', body: Buffer.from(body) });

/** Submits a tree as an honest ledger does. */
const submit = (tree: Tree, old: number, key: NoteKey = ledgerKey) =>
  post(addCheckpointBody(old, tree.proof(old), signedNote(checkpointText(ORIGIN, tree), key)));

async function expectCosigned(response: Response, text: string): Promise<void> {
  const body = await response.text();
  expect(response.status, body).toBe(200);
  for (const key of signer.verifierKeys) {
    const seconds = cosignatureTime(body, key, text);
    expect(Math.abs((seconds ?? 0) - Date.now() / 1000)).toBeLessThan(60);
  }
}

async function expectSize(response: Response, size: number): Promise<void> {
  expect(response.status).toBe(409);
  expect(response.headers.get('content-type')).toBe('text/x.tlog.size');
  expect(await response.text()).toBe(`${size}\n`);
}

describe('an honest ledger', () => {
  test('obtains cosignatures over every size, from every size', async () => {
    let old = 0;
    let tree = Tree.random(1);
    for (const by of [0, 1, 1, 4, 3, 9, 40]) {
      tree = tree.grown(by);
      await expectCosigned(await submit(tree, old), checkpointText(ORIGIN, tree));
      old = tree.size;
    }
  });

  test('obtains a cosignature over a text with extension lines, and over an empty tree', async () => {
    const empty = Tree.random(0);
    await expectCosigned(await submit(empty, 0), checkpointText(ORIGIN, empty));
    const tree = Tree.random(3);
    const text = `${checkpointText(ORIGIN, tree)}some extension\n`;
    await expectCosigned(await post(addCheckpointBody(0, [], signedNote(text, ledgerKey))), text);
  });

  test('learns the size that was cosigned last', async () => {
    const tree = Tree.random(5);
    const larger = tree.grown(2);
    await submit(tree, 0);
    await expectSize(await submit(larger, 0), 5);
    await expectSize(await submit(larger, 4), 5);
    await expectCosigned(await submit(larger, 5), checkpointText(ORIGIN, larger));
  });

  test('obtains a cosignature again for the same checkpoint, after an answer was lost', async () => {
    const tree = Tree.random(6);
    await submit(tree, 0);
    await expectCosigned(await submit(tree, 6), checkpointText(ORIGIN, tree));
  });
});

describe('a dishonest ledger', () => {
  const tree = Tree.random(7);
  beforeEach(async () => {
    expect((await submit(tree, 0)).status).toBe(200);
  });
  /** Nothing was cosigned since. */
  const expectUnmoved = async () => expectSize(await submit(tree.grown(1), 1), 7);

  test.each<[string, number, () => string]>([
    ['another history of the same size', 422, () => body(7, [], Tree.random(7))],
    [
      'a larger tree over another history, with its own proof',
      422,
      () => {
        const other = Tree.random(12);
        return body(7, other.proof(7), other);
      },
    ],
    ['a larger tree without a proof', 422, () => body(7, [], tree.grown(3))],
    [
      'a proof with one hash changed',
      422,
      () => {
        const larger = tree.grown(9);
        return body(7, larger.proof(7).with(0, Buffer.alloc(32)), larger);
      },
    ],
    [
      'a proof with a hash too many',
      422,
      () => {
        const larger = tree.grown(9);
        return body(7, [...larger.proof(7), Buffer.alloc(32)], larger);
      },
    ],
    ['a proof for the same size', 422, () => body(7, [Buffer.alloc(32)], tree)],
    ['a smaller tree', 400, () => body(7, [], tree.first(6))],
    ['a smaller tree from its own size', 409, () => body(6, [], tree.first(6))],
    ['a fork from before', 409, () => body(6, tree.first(6).grown(4).proof(6), tree.first(6).grown(4))],
  ])('obtains no cosignature over %s', async (_, status, make) => {
    const response = await post(make());
    expect(response.status).toBe(status);
    expect(await response.text()).not.toContain('\u2014');
    await expectUnmoved();
  });

  test.each<[string, number, () => string]>([
    [
      'of an unknown origin',
      404,
      () => addCheckpointBody(0, [], signedNote(checkpointText('other.example', tree), noteKey('other.example'))),
    ],
    ['signed by another key of the same name', 403, () => bodySignedBy(noteKey(ORIGIN))],
    ['signed by a key of another name', 403, () => bodySignedBy(noteKey('other.example'))],
    [
      'with a wrong signature of the ledger beside a right one',
      403,
      () => {
        const text = checkpointText(ORIGIN, tree.grown(1));
        const wrong = signedNote(`${text}x\n`, ledgerKey).split('\n').at(-2);
        return addCheckpointBody(7, tree.grown(1).proof(7), `${signedNote(text, ledgerKey)}${wrong}\n`);
      },
    ],
  ])('obtains no cosignature over a checkpoint %s', async (_, status, make) => {
    expect((await post(make())).status).toBe(status);
    await expectUnmoved();
  });

  const body = (old: number, proof: readonly Uint8Array[], of: Tree) =>
    addCheckpointBody(old, proof, signedNote(checkpointText(ORIGIN, of), ledgerKey));
  const bodySignedBy = (key: NoteKey) =>
    addCheckpointBody(7, tree.grown(1).proof(7), signedNote(checkpointText(ORIGIN, tree.grown(1)), key));

  test('obtains one cosignature when it submits many forks at once', async () => {
    const forks = Array.from({ length: 24 }, () => tree.grown(2));
    const answers = await Promise.all(forks.map((fork) => submit(fork, 7)));
    const statuses = answers.map(({ status }) => status);
    expect(statuses.filter((status) => status === 200)).toHaveLength(1);
    expect(statuses.filter((status) => status === 409)).toHaveLength(23);
  });
});

describe('the form of a request', () => {
  const tree = Tree.random(3);
  const right = () => addCheckpointBody(0, [], signedNote(checkpointText(ORIGIN, tree), ledgerKey));

  test.each<[string, (body: string) => string | Uint8Array]>([
    ['an empty body', () => ''],
    ['a size with a leading zero', (body) => body.replace('old 0', 'old 00')],
    ['a negative size', (body) => body.replace('old 0', 'old -1')],
    ['a size of 2^53', (body) => body.replace('old 0', 'old 9007199254740992')],
    ['no size line', (body) => body.replace('old 0\n', '')],
    ['two spaces', (body) => body.replace('old 0', 'old  0')],
    ['a carriage return', (body) => body.replace('old 0\n', 'old 0\r\n')],
    ['a proof hash that is not 32 bytes', (body) => body.replace('old 0\n', 'old 0\nAAAA\n')],
    [
      '64 proof hashes',
      (body) => body.replace('old 0\n', `old 0\n${`${Buffer.alloc(32).toString('base64')}\n`.repeat(64)}`),
    ],
    ['no empty line', (body) => body.replace('old 0\n\n', 'old 0\n')],
    ['a note without a signature', (body) => body.slice(0, body.indexOf('\u2014'))],
    ['bytes that are not UTF-8', () => Buffer.from([0x6f, 0x6c, 0x64, 0xff])],
    ['a control character', (body) => body.replace(ORIGIN, `${ORIGIN}\u0001`)],
  ])('%s is refused with 400', async (_, change) => {
    expect((await post(change(right()))).status).toBe(400);
  });

  test('a body that is too large is refused, and not read to its end', async () => {
    expect((await post('x'.repeat(300 * 1024))).status).toBe(413);
  });

  test('other paths and methods are refused', async () => {
    expect((await post(right(), '/')).status).toBe(404);
    expect((await post(right(), '/add-checkpoint/x')).status).toBe(404);
    expect((await fetch(`${url()}/add-checkpoint`)).status).toBe(405);
    expect((await post(right())).status).toBe(200);
  });

  test('a caller that sends its body slowly delays no other one', async () => {
    const { port } = new URL(url());
    const slow = connect(Number(port), '127.0.0.1');
    slow.on('error', () => undefined);
    slow.write('POST /add-checkpoint HTTP/1.1\r\nhost: w\r\ncontent-length: 1000\r\n\r\nold 0\n');
    await once(slow, 'connect');
    expect((await post(right())).status).toBe(200);
    slow.destroy();
  });
});

describe('the memory of a witness', () => {
  const tree = Tree.random(5);

  test('survives a restart', async () => {
    await submit(tree, 0);
    await stop();
    await start();
    await expectSize(await submit(Tree.random(5), 0), 5);
    expect((await submit(Tree.random(5), 5)).status).toBe(422);
    const larger = tree.grown(1);
    await expectCosigned(await submit(larger, 5), checkpointText(ORIGIN, larger));
  });

  test('holds a checkpoint before it is cosigned: a crash before the answer allows no second history', async () => {
    await stop();
    const crash = (): string => {
      throw new Error('killed between storing and answering');
    };
    await start({ signer: { cosign: crash } });
    expect((await submit(tree, 0)).status).toBe(500);
    await stop();
    await start();
    await expectSize(await submit(Tree.random(5), 0), 5);
    expect((await submit(Tree.random(5), 5)).status).toBe(422);
    await expectCosigned(await submit(tree, 5), checkpointText(ORIGIN, tree));
  });

  test('is not cosigned from if it cannot be stored', async () => {
    await stop();
    const write = () => Promise.reject(new Error('the disk is full'));
    await start({ state: { read: async () => null, write } });
    const response = await submit(tree, 0);
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('\u2014');
  });

  test('is never taken for empty when it is damaged', async () => {
    await submit(tree, 0);
    const [name] = (await readdir(join(folder, 'state'))).filter((one) => one.endsWith('.json'));
    const path = join(folder, 'state', name ?? '');
    const content = await readFile(path, 'utf8');
    for (const damaged of ['', '{}', content.slice(0, -10), content.replace(ORIGIN, 'other.example')]) {
      await writeFile(path, damaged);
      expect((await submit(Tree.random(4), 0)).status, damaged).toBe(500);
    }
    await writeFile(path, content);
    await expectSize(await submit(Tree.random(4), 0), 5);
  });

  test('is used by one process at a time', async () => {
    const path = join(folder, 'state', 'lock');
    // Process 1 always runs.
    await writeFile(path, '1\n');
    await expect(openWitnessState(join(folder, 'state'))).rejects.toThrow(/the process 1 uses/);
    await writeFile(path, '999999999\n');
    state = await openWitnessState(join(folder, 'state'));
  });

  test('is not held by a process that got the id of a former one', async () => {
    const path = join(folder, 'state', 'lock');
    const [boot = ''] = (await readFile(path, 'utf8')).split(' ')[1]?.split('/') ?? [];
    const ofFirst = await readFile('/proc/1/stat', 'utf8');
    const start = ofFirst.slice(ofFirst.lastIndexOf(')') + 2).split(' ')[19];
    await writeFile(path, `1 ${boot}/${start}\n`);
    await expect(openWitnessState(join(folder, 'state'))).rejects.toThrow(/the process 1 uses/);
    await writeFile(path, `1 an-earlier-boot/${start}\n`);
    state = await openWitnessState(join(folder, 'state'));
  });
});

describe('the key of a witness', () => {
  test('is read from its file, which only its owner can read', async () => {
    const path = join(folder, 'witness.key');
    expect((await readWitnessKey(path)).verifierKeys).toEqual(signer.verifierKeys);
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    await expect(createWitnessKey(path, 'witness.example/w2')).rejects.toThrow(/exists and was not overwritten/);
    const content = await readFile(path, 'utf8');
    for (const damaged of [
      '',
      content.replace('w1', 'w2'),
      content.slice(0, -9),
      content.replace(/\+B(\S+)\n/, '+A$1\n'),
    ]) {
      await writeFile(path, damaged);
      await expect(readWitnessKey(path), damaged).rejects.toThrow();
    }
    await expect(createWitnessKey(join(folder, 'other'), 'two words')).rejects.toThrow(/not a name/);
  });
});

describe('a change of the ledger\u2019s key', () => {
  const tree = Tree.random(4);

  test('is followed as soon as the operator of the witness adds the new key', async () => {
    const next = noteKey(ORIGIN);
    await submit(tree, 0);
    const refused = await submit(tree.grown(1), 4, next);
    expect(refused.status).toBe(403);
    expect(await refused.text()).toContain('--ledger-key');
    await stop();
    await start({}, [next]);
    const later = tree.grown(1);
    expect((await submit(later, 4, next)).status).toBe(200);
    expect((await submit(later.grown(1), 5)).status).toBe(403);
  });
});
