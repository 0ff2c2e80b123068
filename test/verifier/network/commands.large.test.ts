import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  addCheckpointBody,
  checkpointText,
  cosignatureTime,
  noteKey,
  signedNote,
  Tree,
} from '../../support/independent-tlog.js';
import { listen } from '../../support/running-witness.js';
import { until } from '../../support/wait.js';

const ORIGIN = 'ledger.example/test';
const key = noteKey(ORIGIN);
let folder: string;
const program = fileURLToPath(new URL('../../../verifier-cli/dist/consent-verify-network.js', import.meta.url));

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'consent-verify-network-'));
  writeFileSync(join(folder, 'ledger.vkey'), `${key.vkey}\n`);
});
afterAll(() => rmSync(folder, { recursive: true }));

const run = (...args: readonly string[]) =>
  spawnSync(process.execPath, [program, ...args], { encoding: 'utf8', cwd: folder });

/** Starts a witness, and waits until it listens. */
async function startWitness(name: string): Promise<{ readonly process: ChildProcess; readonly url: string }> {
  const args = ['--listen', '127.0.0.1:0', '--key-file', `${name}.key`, '--state', name, '--ledger-key', 'ledger.vkey'];
  const child = spawn(process.execPath, [program, 'witness', ...args], { cwd: folder });
  let output = '';
  for await (const piece of child.stdout) {
    output += String(piece);
    const [, url] = /listening on (\S+)\n/.exec(output) ?? [];
    if (url !== undefined) return { process: child, url };
  }
  throw new Error(`the witness did not start: ${output}`);
}

test('a witness creates its key once, and prints its verifier key', () => {
  const made = run('witness', '--key-file', 'w.key', '--new-key', 'witness.example/w');
  expect(made).toMatchObject({ status: 0, stderr: '' });
  expect(made.stdout).toMatch(/^(?:witness\.example\/w\+[0-9a-f]{8}\+B\S+\n){2}$/);
  expect(run('witness', '--key-file', 'w.key', '--new-key', 'witness.example/w')).toMatchObject({ status: 2 });
});

test.each([
  [['witness']],
  [['witness', '--key-file', 'missing.key', '--listen', '127.0.0.1:0']],
  [['witness', '--key-file', 'u.key', '--new-key', 'u.example', '--listen', 'nowhere']],
  [['watch', 'http://127.0.0.1:9', '--state', 'seen']],
  [['watch', 'http://127.0.0.1:9', '--state', 'seen', '--ledger-key', 'ledger.vkey', '--interval', 'often']],
  [['other']],
])('wrong usage ends with 2: %j', (args) => {
  expect(run(...args).status).toBe(2);
});

test('a witness that is killed at any moment remembers what it cosigned', async () => {
  const vkey = run('witness', '--key-file', 'k.key', '--new-key', 'witness.example/k').stdout.split('\n')[0] ?? '';
  /** @returns null if the witness was killed before it answered */
  const submit = async (url: string, old: number, tree: Tree) => {
    const body = addCheckpointBody(old, tree.proof(old), signedNote(checkpointText(ORIGIN, tree), key));
    try {
      const signal = AbortSignal.timeout(30_000);
      const response = await fetch(`${url}/add-checkpoint`, { method: 'POST', body, signal });
      return { status: response.status, text: await response.text() };
    } catch {
      return null;
    }
  };
  /** Every history that was submitted, each of another size. */
  const submitted = [Tree.random(1)];
  let largest = 0;
  for (let round = 0; round < 8; round += 1) {
    const { process: child, url } = await startWitness('k');
    const ended = once(child, 'exit');
    // Another history learns the size, and no more, unless the witness was killed before it cosigned anything.
    const other = Tree.random(1);
    const probe = submitted.length === 1 ? null : await submit(url, 0, other);
    const isFirst = probe?.status === 200 && largest === 0;
    if (isFirst) submitted.push(other);
    const size = isFirst ? other.size : probe === null ? 0 : Number(probe.text);
    if (probe !== null && !isFirst) {
      expect(probe.status).toBe(409);
      expect(size).toBeGreaterThanOrEqual(largest);
      expect((await submit(url, size, Tree.random(size)))?.status).toBe(422);
    }
    // The first one is killed when it has cosigned something.
    void until(() => largest > 0).then(() => setTimeout(() => child.kill('SIGKILL'), Math.random() * 60));
    let last = submitted.findLast((tree) => tree.size === size) ?? Tree.random(0);
    for (;;) {
      const next = last.grown(1 + (submitted.at(-1)?.size ?? 0) - last.size);
      submitted.push(next);
      const answer = await submit(url, last.size, next);
      if (answer === null) break;
      expect(answer.status, answer.text).toBe(200);
      expect(cosignatureTime(answer.text, vkey, checkpointText(ORIGIN, next))).not.toBeNull();
      largest = next.size;
      last = next;
    }
    await ended;
  }
  expect(largest).toBeGreaterThan(1);
});

test('a running witness cosigns, refuses a second process, and ends when it is told to', async () => {
  const vkey = run('witness', '--key-file', 'r.key', '--new-key', 'witness.example/r').stdout.split('\n')[0] ?? '';
  const { process: child, url } = await startWitness('r');
  const tree = Tree.random(3);
  const text = checkpointText(ORIGIN, tree);
  const body = addCheckpointBody(0, [], signedNote(text, key));
  const answer = await fetch(`${url}/add-checkpoint`, { method: 'POST', body });
  expect(cosignatureTime(await answer.text(), vkey, text)).not.toBeNull();
  const args = ['--listen', '127.0.0.1:0', '--key-file', 'r.key', '--state', 'r', '--ledger-key', key.vkey];
  expect(run('witness', ...args)).toMatchObject({ status: 2, stderr: expect.stringContaining('uses r') });
  const ended = once(child, 'exit');
  child.kill('SIGTERM');
  expect(await ended).toEqual([0, null]);
});

test('a monitor ends with 3 when the service does not answer, and with 0 when all is fine', async () => {
  const args = ['--state', 'seen', '--ledger-key', 'ledger.vkey', '--once'];
  expect(run('watch', 'http://127.0.0.1:9', ...args)).toMatchObject({ status: 3 });
  const tree = Tree.random(1);
  const service = await listen(
    createServer((request, response) => {
      const checkpoint = { size: 1, time: new Date().toISOString(), note: '', tokens: [], authorities: [] };
      const list = { data: { keys: [], checkpoints: [checkpoint] } };
      const isNote = request.url?.endsWith('/note') === true;
      response.end(isNote ? signedNote(checkpointText(ORIGIN, tree), key) : JSON.stringify(list));
    }),
  );
  const child = spawn(process.execPath, [program, 'watch', service.url, ...args], { cwd: folder });
  expect(await once(child, 'exit')).toEqual([0, null]);
  await service.stop();
});
