import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TLSSocket } from 'node:tls';
import { promisify } from 'node:util';
import { pino } from 'pino';
import { expect, it, onTestFinished } from 'vitest';
import { assertConnectionsFit } from '../../src/app/connection-room.js';
import { prepareSchema } from '../../src/app/installation.js';
import { createPool } from '../../src/platform/database/pool.js';
import { freePort } from '../support/free-port.js';
import { createTestDatabase } from '../support/postgres.js';

it('states how many connections it opens, warns if others leave too few, and refuses what can never be enough', async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database.drop());
  const workerPool = createPool({
    ...{ url: database.url, applicationName: 'test', maxConnections: 1, statementTimeoutMs: 5_000 },
    onIdleError: () => undefined,
  });
  const log: [level: string, numbers: object][] = [];
  const logger = {
    info: (numbers: object) => log.push(['info', numbers]),
    warn: (numbers: object) => log.push(['warn', numbers]),
  };
  const roomFor = (poolSize: number, kind: 'postgres' | 'eventstoredb' = 'postgres') =>
    assertConnectionsFit({ config: { database: { poolSize } }, logger, eventLog: { kind }, workerPool });
  const limit = (connections: number) =>
    workerPool.query(`alter database "${new URL(database.url).pathname.slice(1)}" connection limit ${connections}`);

  await limit(200);
  await roomFor(10);
  await roomFor(10, 'eventstoredb');
  expect(log).toMatchObject([
    ['info', { connections_at_most: 40, connections_allowed: 200 }],
    ['info', { connections_at_most: 35 }],
  ]);
  await limit(40);
  await roomFor(10);
  expect(log.at(-1)).toMatchObject(['warn', { connections_at_most: 40, connections_allowed: 40 }]);
  await limit(39);
  await expect(roomFor(10)).rejects.toMatchObject({
    code: 'too_few_connections',
    message: expect.stringContaining('Set DATABASE_POOL_SIZE to 9 or less'),
  });
  await limit(12);
  await expect(roomFor(2)).rejects.toThrow('. Raise max_connections.');
  await workerPool.end();
});

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
