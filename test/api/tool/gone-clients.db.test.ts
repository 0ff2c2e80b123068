import { randomUUID } from 'node:crypto';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { afterAll, beforeAll, expect, it } from 'vitest';
import * as z from 'zod';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { countLocks } from '../../support/count-locks.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { type RunningApp, startApp } from '../server/running-app.js';

const PATH = '/tool/v1/consents/batch';
const Opened = z.object({ socket: z.custom<Socket>() });
const Counts = z.tuple([z.object({ recorded: z.int() })]);

let app: RunningApp;
let demo: SeededDemo;
/** The server's side of each connection. */
const sockets: Socket[] = [];
const onSocket = (message: unknown): void => void sockets.push(Opened.parse(message).socket);
beforeAll(async () => {
  app = await startApp('api');
  subscribe('net.server.socket', onSocket);
  demo = await app.seed();
});
afterAll(async () => {
  unsubscribe('net.server.socket', onSocket);
  await app.stop();
});

it('a large batch whose client has gone before its turn is not recorded, and later ones are', async () => {
  const version = demo.documents
    .find(({ kind }) => kind === 'cookie_policy')
    ?.versions.find(({ language, state }) => language === 'en' && state === 'active');
  const send = (signal?: AbortSignal) => {
    const consent = {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: version?.id,
      idempotency_key: randomUUID(),
      custom_document_content: 'x'.repeat(400_000),
      custom_document_mime_type: 'text/plain',
    };
    const body = JSON.stringify({ consents: [consent] });
    const headers = signedHeaders(demo.keys.write, PATH, body);
    return fetch(app.url + PATH, { method: 'POST', headers, body, ...(signal !== undefined && { signal }) });
  };
  const recorded = async () => {
    const { rows } = await app.superuser.query(
      `select count(*)::int as recorded from event_log.events where type like 'Consent%'`,
    );
    return Counts.parse(rows)[0].recorded;
  };
  const locker = await app.superuser.connect();
  await locker.query('begin; lock table event_log.waiting in exclusive mode');
  const first = send();
  // A tenant has one turn at a time, and the first batch waits for the lock in it.
  const waiting = () => countLocks(app.superuser, "not granted and mode <> 'ExclusiveLock'");
  await expect.poll(waiting).toBeGreaterThan(0);
  const gone = new AbortController();
  const left = Promise.allSettled([send(gone.signal), send(gone.signal)]);
  // All three have arrived whole; then the service sees two of them go.
  const open = () => sockets.filter(({ destroyed, bytesRead }) => !destroyed && bytesRead > 400_000);
  await expect.poll(open).toHaveLength(3);
  gone.abort();
  await left;
  await expect.poll(open).toHaveLength(1);
  await locker.query('rollback');
  locker.release();
  expect((await first).status).toBe(202);
  expect((await send()).status).toBe(202);
  expect(await recorded()).toBe(2);
});
