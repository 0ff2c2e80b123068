import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { consentToken } from '../../schemas/events/consent-recorded.js';
import { fixtureAuthority, LEDGER_KEY } from '../support/ledger-fixture.js';
import { fixtureUuid } from '../support/ledger-fixture-events.js';
import { buildPackage } from '../support/package-builder.js';
import { type BundledCommand, bundleCommand } from './bundled-command.js';

const ALLOWED = new Set(['node:crypto', 'node:fs/promises', 'node:stream', 'node:stream/promises', 'node:zlib']);

/**
 * Modules that commander asks for; it starts no process unless a command is declared as an
 * executable, and none is.
 */
const COMMANDER = new Set([
  'node:child_process',
  'node:events',
  'node:fs',
  'node:path',
  'node:process',
  'node:util',
  'child_process',
  'events',
  'fs',
  'path',
  'process',
  'util',
]);

test('the verifier imports no module that can open a socket', async () => {
  const entry = new URL('../../verifier-cli/src/main.ts', import.meta.url).pathname;
  const result = await build({
    entryPoints: [entry],
    bundle: true,
    write: false,
    platform: 'node',
    format: 'esm',
    metafile: true,
    logLevel: 'silent',
  });
  for (const [path, input] of Object.entries(result.metafile.inputs)) {
    const allowed = path.includes('node_modules/commander/') ? COMMANDER : ALLOWED;
    for (const imported of input.imports.filter(({ external }) => external)) {
      expect([...allowed], `${path} imports ${imported.path}`).toContain(imported.path);
    }
    if (!path.includes('node_modules/')) {
      const source = readFileSync(path, 'utf8');
      expect(source, path).not.toMatch(/\bfetch\s*\(|WebSocket|XMLHttpRequest|EventSource|\bimport\s*\(/);
    }
  }
});

/**
 * Ends the process with 99 as soon as anything in it opens a socket, asks for a name or listens.
 */
const FORBIDDING = `data:text/javascript,${encodeURIComponent(`
  import dgram from 'node:dgram';
  import dns from 'node:dns';
  import net from 'node:net';
  import { syncBuiltinESMExports } from 'node:module';
  const forbid = () => { process.stderr.write('network'); process.exit(99); };
  for (const name of Object.keys(dns)) if (typeof dns[name] === 'function') dns[name] = forbid;
  for (const name of Object.keys(dns.promises)) dns.promises[name] = forbid;
  for (const type of [net.Socket, net.Server, dgram.Socket])
    for (const name of ['connect', 'listen', 'bind', 'send']) if (name in type.prototype) type.prototype[name] = forbid;
  dgram.createSocket = forbid;
  syncBuiltinESMExports();
`)}`;

describe('where sockets are forbidden', () => {
  const authority = fixtureAuthority();
  let command: BundledCommand;
  const TRUST = ['--tsa-ca', 'root.der', '--ledger-key', 'ledger.key'];

  beforeAll(() => {
    command = bundleCommand();
    command.write('root.der', authority.root.der);
    command.write('ledger.key', LEDGER_KEY.verifierKey);
    command.write('package.zip', buildPackage(authority));
    // Nothing answers for the authority's certificate, which names where a CRL is to be had.
    command.write('open.zip', buildPackage(authority, { crl: () => null }));
    const files: { note?: Uint8Array | undefined; response?: Uint8Array | undefined } = {};
    buildPackage(authority, {
      files: (enclosed) => {
        files.note = enclosed.get('checkpoints/5.note');
        files.response = enclosed.get('checkpoints/5.1.tsr');
      },
    });
    command.write('5.note', files.note ?? '');
    command.write('5.tsr', files.response ?? '');
  });
  afterAll(() => command.remove());

  const run = (...args: readonly string[]) =>
    spawnSync(process.execPath, ['--import', FORBIDDING, ...args], { encoding: 'utf8', cwd: command.folder });

  test.each([
    ['a connection', `require('node:net').connect(9, '127.0.0.1')`],
    ['a request', `fetch('http://127.0.0.1:48089')`],
    ['a name', `require('node:dns').lookup('localhost', () => undefined)`],
    ['a datagram', `require('node:dgram').createSocket('udp4')`],
    ['a server', `require('node:net').createServer().listen(0)`],
  ])('%s would be noticed', (_, script) => {
    expect(run('-e', script).status).toBe(99);
  });

  test.each([
    [0, ['check', 'package.zip', ...TRUST]],
    [3, ['check', 'open.zip', ...TRUST, '--json']],
    [0, ['show', 'package.zip', consentToken(fixtureUuid('c3')), ...TRUST]],
    [3, ['timestamp', '5.tsr', '--data', '5.note', '--tsa-ca', 'root.der']],
    [0, ['compare', '5.note', '5.note', '--ledger-key', 'ledger.key']],
  ])('the command ends with %i as ever: %j', (status, args) => {
    const result = run(join(command.folder, 'consent-verify.mjs'), ...args);
    expect(result.stderr).toBe('');
    expect(result.status).toBe(status);
  });
});
