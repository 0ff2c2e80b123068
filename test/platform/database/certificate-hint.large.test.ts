import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { prepareSchema } from '../../../src/app/installation.js';
import { freePort } from '../../support/free-port.js';

it('says what to write if the certificate of the server is refused, which libpq would not verify', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'tls-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const [key, cert] = [join(folder, 'key.pem'), join(folder, 'cert.pem')];
  const request = [
    'req',
    '-x509',
    '-newkey',
    'rsa:2048',
    '-nodes',
    '-subj',
    '/CN=localhost',
    '-keyout',
    key,
    '-out',
    cert,
  ];
  await promisify(execFile)('openssl', request);
  const pair = { key: await readFile(key), cert: await readFile(cert) };
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    // The request for TLS is the first message; S accepts it.
    socket.once('data', () => {
      socket.write('S');
      new TLSSocket(socket, { ...pair, isServer: true }).on('error', () => undefined);
    });
  });
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const url = `postgresql://u:p@127.0.0.1:${port}/d?sslmode=require`;
  await expect(prepareSchema(url, pino({ level: 'silent' }), 'check')).rejects.toMatchObject({
    code: 'unreachable',
    message: expect.stringMatching(/self-signed.*sslmode=verify-full&sslrootcert=/s),
  });
});
