import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, test, vi } from 'vitest';
import * as z from 'zod';
import { whenLogAnswers } from '../../src/app/prepare-installation.js';
import { EventLogUnavailable } from '../../src/pipeline/event-log/errors.js';
import { gateEventLog } from '../../src/pipeline/event-log/gated-event-log.js';
import { ask, type RunningApp, startApp } from '../api/server/running-app.js';
import { Backend } from '../api/tool/export-fixture.js';
import { LeaderlessCluster } from '../pipeline/event-log/leaderless-cluster.js';
import { TestInstallation } from '../support/running-service.js';

const Ready = z.object({ status: z.string(), reasons: z.array(z.object({ code: z.string() })) });
const LOG_IS_AWAY = { status: 'degraded', reasons: [{ code: 'log_away' }, { code: 'development_authority' }] };

describe.each(['api', 'serve'] as const)('%s that starts while the event log is away', (role) => {
  let cluster: LeaderlessCluster;
  let app: RunningApp;
  beforeAll(async () => {
    cluster = await LeaderlessCluster.start();
    cluster.hasLeader = false;
    app = await startApp(role, { EVENTSTORE_URL: cluster.url(200) });
  });
  afterAll(async () => {
    await app.stop();
    await cluster.close();
  });

  it('accepts consents, which wait', async () => {
    const backend = await Backend.of(app);
    const { consent_token: token } = await backend.record({ visitor_id: 'waits' });
    expect(token).toMatch(/^ct_/);
    const { rowCount } = await app.superuser.query('select from event_log.waiting_events where type like $1', [
      'ConsentRecorded%',
    ]);
    expect(rowCount).toBe(1);
  });

  it('says so, and reads nothing from the log', async () => {
    await expect.poll(() => ask(`${app.url}/readyz`)).toMatchObject({ status: 200, body: LOG_IS_AWAY });
    await expect(app.service.installation.eventLog.ping()).rejects.toThrow(EventLogUnavailable);
  });
});

test('api that waits for the log goes on waiting after a failure of the database', async () => {
  const cluster = await LeaderlessCluster.start();
  cluster.hasLeader = false;
  const app = await startApp('api', { EVENTSTORE_URL: cluster.url(200) });
  const attempts = () => app.log().split('the event log does not answer').length - 1;
  try {
    await expect.poll(attempts).toBeGreaterThan(0);
    await app.superuser.query('alter table projections rename to projections_away');
    await expect.poll(() => app.log().includes('relation \\"projections\\" does not exist')).toBe(true);
    await app.superuser.query('alter table projections_away rename to projections');
    const before = attempts();
    await expect.poll(attempts).toBeGreaterThan(before);
  } finally {
    await app.stop();
    await cluster.close();
  }
});

test('serve as a process starts without the log, and stops in order', async () => {
  const installation = await TestInstallation.make({ EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' });
  try {
    const service = await installation.start();
    await expect.poll(() => ask(`${service.url}/readyz`)).toMatchObject({ body: LOG_IS_AWAY });
    expect(await service.stop()).toBe(0);
  } finally {
    await installation.remove();
  }
});

test('api whose log goes away after the start says so, until it answers again', async () => {
  const app = await startApp('api');
  try {
    const readiness = async () => Ready.parse((await ask(`${app.url}/readyz`)).body);
    await expect.poll(readiness).toMatchObject({ status: 'ready' });
    const ping = vi.spyOn(app.service.installation.eventLog, 'ping').mockRejectedValue(new EventLogUnavailable('gone'));
    await expect.poll(readiness).toMatchObject(LOG_IS_AWAY);
    ping.mockRestore();
    await expect.poll(readiness).toMatchObject({ status: 'ready' });
  } finally {
    await app.stop();
  }
});

test('worker as a process that waits for the log says so, and ends with SIGTERM', async () => {
  const installation = await TestInstallation.make({ EVENTSTORE_URL: 'esdb://127.0.0.1:1?tls=false' });
  try {
    const worker = await installation.start('worker');
    expect((await ask(`${worker.url}/healthz`)).status).toBe(200);
    const unready = { status: 'unready', reasons: [{ code: 'log_away' }] };
    await expect.poll(() => ask(`${worker.url}/readyz`)).toMatchObject({ status: 503, body: unready });
    expect(await worker.stop()).toBe(0);
  } finally {
    await installation.remove();
  }
});

describe('the preparation of an installation', () => {
  let app: RunningApp;
  beforeEach(async () => {
    app = await startApp('api');
  });
  afterEach(async () => {
    vi.restoreAllMocks();
    await app.stop();
  });
  const wait = (signal = new AbortController().signal) => ({ seals: false, signal, onWaiting: vi.fn() });
  const down = () => Promise.reject(new EventLogUnavailable('no answer'));

  it('is repeated until the log answers', async () => {
    const { installation } = app.service;
    vi.spyOn(installation.eventLog, 'readStream').mockImplementationOnce(down).mockImplementationOnce(down);
    const options = wait();
    await expect(whenLogAnswers(installation, options, async () => 'prepared')).resolves.toBe('prepared');
    expect(options.onWaiting).toHaveBeenCalledTimes(2);
  });

  it('is repeated with the work if the log goes away in between', async () => {
    const work = vi.fn<() => Promise<string>>().mockImplementationOnce(down).mockResolvedValue('done');
    await expect(whenLogAnswers(app.service.installation, wait(), work)).resolves.toBe('done');
    expect(work).toHaveBeenCalledTimes(2);
  });

  it('ends with its signal', async () => {
    vi.spyOn(app.service.installation.eventLog, 'readStream').mockImplementation(down);
    const stop = new AbortController();
    const options = { ...wait(stop.signal), onWaiting: () => stop.abort() };
    await expect(whenLogAnswers(app.service.installation, options, async () => 'prepared')).resolves.toBeNull();
  });

  it('waits with the reason for a log of another database', async () => {
    await app.superuser.query('update event_log_identity set log_id = gen_random_uuid()');
    const stop = new AbortController();
    const reasons: unknown[] = [];
    const onWaiting = (found: unknown) => {
      reasons.push(found);
      stop.abort();
    };
    const work = vi.fn<() => Promise<string>>();
    const options = { ...wait(stop.signal), onWaiting };
    await expect(whenLogAnswers(app.service.installation, options, work)).resolves.toBeNull();
    expect(reasons).toEqual([[{ code: 'log_damaged', names: ['LogIdentityMismatch'] }]]);
    expect(work).not.toHaveBeenCalled();
  });

  it('comes before the first read of the log', async () => {
    const { eventLog } = app.service.installation;
    const gate = gateEventLog(eventLog);
    const calls = [
      () => gate.eventLog.readStream('a', 0, 1),
      () => gate.eventLog.readEvents([{ stream: 'a', revision: 0 }]),
      () => gate.eventLog.lastRevision('a'),
      () => gate.eventLog.lastRevisions(['a']),
      () => gate.eventLog.firstRevisions(['a']),
      () => gate.eventLog.readAll(null, 1),
      () => gate.eventLog.append('a', -1, []),
      () => gate.eventLog.subscribe(null, new AbortController().signal)[Symbol.asyncIterator]().next(),
    ];
    for (const call of calls) await expect(call()).rejects.toThrow(EventLogUnavailable);
    expect(await gate.eventLog.appendAll([{ stream: 'a', expectedRevision: -1, events: [] }])).toMatchObject([
      { status: 'rejected' },
    ]);
    gate.open();
    await gate.eventLog.ping();
    expect(await gate.eventLog.lastRevision('a')).toBe(-1);
    expect(await gate.eventLog.readEvents([{ stream: 'a', revision: 0 }])).toEqual([null]);
  });
});
