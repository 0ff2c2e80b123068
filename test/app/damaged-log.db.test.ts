import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { LEDGER_STREAM } from '../../schemas/events/streams.js';
import { ask, type RunningApp, startApp } from '../api/server/running-app.js';
import { Backend } from '../api/tool/export-fixture.js';
import { commandLine } from '../cli/command-line.js';
import { damageSql, inStream, insertForeign } from '../pipeline/event-log/postgres-fixture.js';

const Ready = z.object({
  status: z.string(),
  reasons: z.array(z.object({ code: z.string(), names: z.array(z.string()).optional() })),
});
const Report = z.looseObject({ findings: z.array(z.looseObject({ kind: z.string() })) });
const Streams = z.tuple([z.object({ stream: z.string() })]);
const METRIC = /^consent_ledger_foreign_events_total\S* (\d+)$/m;
const TOKEN = 'metrics-token-for-this-test-only';

describe('serve on an event log that another program writes to', () => {
  let app: RunningApp;
  let backend: Backend;
  beforeAll(async () => {
    app = await startApp('serve', { METRICS_TOKEN: TOKEN });
    backend = await Backend.of(app);
  });
  afterAll(() => app.stop());

  const readyz = async () => Ready.parse((await ask(`${app.url}/readyz`)).body);
  const sealed = async () => (await app.superuser.query("select from leaves where stream like 'consents-%'")).rowCount;

  it('passes over a stream that is not its own, and counts it', async () => {
    await insertForeign(app.superuser, 'orders-1', 'OrderPlaced');
    const before = (await sealed()) ?? 0;
    await backend.record({ visitor_id: 'ada' });
    await expect.poll(sealed).toBe(before + 1);
    // The reason is that of every installation without an authority.
    await expect.poll(readyz).toEqual({ status: 'ready', reasons: [{ code: 'development_authority' }] });
    const metrics = await fetch(`${app.url}/metrics`, { headers: { authorization: `Bearer ${TOKEN}` } });
    expect(Number(METRIC.exec(await metrics.text())?.[1])).toBeGreaterThan(0);
  });

  it('accepts consents and says why nothing is signed, when the ledger has a foreign event', async () => {
    await insertForeign(app.superuser, LEDGER_STREAM, 'OrderPlaced');
    const before = await sealed();
    await backend.record({ visitor_id: 'ben' });
    const isSaid = async () => (await readyz()).reasons.find(({ code }) => code === 'log_damaged')?.names;
    await expect.poll(isSaid).toContain('LedgerCorrupt');
    await backend.record({ visitor_id: 'cem' });
    await expect.poll(async () => (await readyz()).status).toBe('degraded');
    expect(await sealed()).toBe(before);
    expect(app.log()).toContain('events of type OrderPlaced do not belong there');
  });

  it('is audited to the end when a stream of a site lost its first event', async () => {
    const { rows } = await app.superuser.query(
      `select stream from event_log.logged_streams where stream like 'consents-%'`,
    );
    const [{ stream }] = Streams.parse(rows);
    const removal = `delete from event_log.events where revision = 0 and ${inStream(stream)}`;
    for (const statement of damageSql(removal)) await app.superuser.query(statement);
    const quarantined = async () => (await app.superuser.query('select from quarantined_sites')).rowCount;
    await expect.poll(quarantined).toBe(1);
    const { exitCode, stdout } = await commandLine(app).run(['audit', '--json']);
    expect(exitCode).toBe(1);
    const { findings } = Report.parse(JSON.parse(stdout));
    expect(findings).toContainEqual(expect.objectContaining({ kind: 'log-order', key: stream }));
    expect(findings).toContainEqual(expect.objectContaining({ kind: 'stopped-part', table: 'quarantined_sites' }));
  });
});
