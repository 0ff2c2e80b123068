import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import * as z from 'zod';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { eventually } from '../support/wait.js';

const ROOT = new URL('../../', import.meta.url);
const read = (path: string): Promise<string> => readFile(new URL(path, ROOT), 'utf8');
const PROGRAM = fileURLToPath(new URL('verifier-cli/bin/consent-verify.js', ROOT));

/** The commands of a page that begin with this name, each as its arguments. */
async function commandsOf(page: string, name: string): Promise<readonly (readonly string[])[]> {
  const text = (await read(page)).replaceAll(/ \\\n\s*/g, ' ');
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `));
  return lines.map((line) => line.split(' ').slice(1));
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  await new Promise((resolve) => server.close(resolve));
  if (address === null || typeof address === 'string') throw new Error('no port');
  return address.port;
}

describe('the walk of docs/run-a-witness.md', () => {
  let folder: string;
  let app: RunningApp;
  let witness: ChildProcess;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'witness-walk-'));
    const port = await freePort();
    const [create = [], start = []] = await commandsOf('docs/run-a-witness.md', 'consent-verify');
    const created = spawnSync(process.execPath, [PROGRAM, ...create], { cwd: folder, encoding: 'utf8' });
    expect(created).toMatchObject({ status: 0, stderr: '' });
    app = await startApp('serve', {
      WITNESS_URLS: `http://127.0.0.1:${port}/`,
      WITNESS_KEYS: created.stdout.trim().replaceAll('\n', ','),
    });
    await app.seed();
    await writeFile(join(folder, 'ledger.vkey'), await (await fetch(`${app.url}/checkpoints/ledger.vkey`)).text());
    const args = start.map((word) =>
      word.replace('127.0.0.1:8081', `127.0.0.1:${port}`).replace('https://consent.example.org', app.url),
    );
    witness = spawn(process.execPath, [PROGRAM, ...args], { cwd: folder, stdio: 'ignore' });
  });
  afterAll(async () => {
    witness?.kill();
    await app?.stop();
    if (folder !== undefined) await rm(folder, { recursive: true, force: true });
  });

  it('ends in a cosignature of a witness that recomputed the structure', async () => {
    const [[, address = ''] = []] = await commandsOf('docs/run-a-witness.md', 'curl');
    const checkpoint = new URL(new URL(address).pathname, app.url);
    await eventually(async () => {
      const note = await (await fetch(checkpoint)).text();
      expect(note).toContain('\n— witness.example.org/structure ');
    });
    expect(await readdir(join(folder, 'witness-state'))).not.toContainEqual(expect.stringMatching(/^contradiction/));
  });
});

describe('the files with which another organisation runs a witness', () => {
  const Container = z.object({
    command: z.array(z.string()),
    args: z.array(z.string()),
    securityContext: z.object({ readOnlyRootFilesystem: z.literal(true), allowPrivilegeEscalation: z.literal(false) }),
  });
  const StatefulSet = z.object({
    kind: z.literal('StatefulSet'),
    spec: z.object({
      replicas: z.literal(1),
      template: z.object({ spec: z.object({ containers: z.tuple([Container]) }) }),
    }),
  });
  const Composition = z.object({
    services: z.object({
      witness: z.object({
        read_only: z.literal(true),
        cap_drop: z.tuple([z.literal('ALL')]),
        entrypoint: z.array(z.string()),
        command: z.array(z.string()),
      }),
    }),
  });

  it('name the program and its options as they are', async () => {
    const { witness } = Composition.parse(parse(await read('ops/witness/docker-compose.yml'))).services;
    const [first] = parseAllDocuments(await read('ops/kubernetes/witness/witness.yaml'));
    const [pod] = StatefulSet.parse(first?.toJS()).spec.template.spec.containers;
    expect(pod.command).toEqual(witness.entrypoint);
    const names = (args: readonly string[]) => args.map((arg) => arg.split('=')[0]).sort();
    expect(names(pod.args)).toEqual(names(witness.command));
    const help = spawnSync(process.execPath, [PROGRAM, 'witness', '--help'], { encoding: 'utf8' }).stdout;
    for (const name of names(pod.args)) expect(help).toContain(`${name} <`);
  });
});
