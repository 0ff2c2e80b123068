import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { PersonTokenResponse } from '../../schemas/api/person-tokens.js';
import { openAudit } from '../../src/app/open-audit.js';
import { runAudit } from '../../src/audit/audit.js';
import { type AuditState, SECTIONS } from '../../src/audit/state-file.js';
import { RecordingTenant } from '../api/panel/recording-tenant.js';
import { type RunningApp, startApp } from '../api/server/running-app.js';
import { type CommandLine, commandLine } from '../cli/command-line.js';
import { count } from '../pipeline/relay/pipeline.js';
import { turnAccountsOn } from '../support/turn-accounts-on.js';
import { eventually } from '../support/wait.js';

const Report = z.object({
  findings: z.array(
    z.looseObject({ kind: z.string(), table: z.string(), key: z.string(), meaning: z.string(), action: z.string() }),
  ),
  more: z.literal(0),
});

describe('consent-ledger audit', () => {
  let app: RunningApp;
  let shop: RecordingTenant;
  let line: CommandLine;
  let stateFile: string;
  beforeAll(async () => {
    // As in production, batches and stamps are fewer than requests.
    app = await startApp('serve', { BATCH_MAX_AGE_MS: '1000', STAMP_INTERVAL_MS: '5000' });
    shop = await RecordingTenant.of(app);
    line = commandLine(app);
    stateFile = join(app.service.installation.config.dataDir, 'audit.state');
    await shop.record({ visitor_id: 'ann' });
    await turnAccountsOn(app, shop.siteId, null);
    const token = await eventually(async () => {
      const { body } = await shop.post('/tool/v1/s2s/person-tokens', { person: 'bea' });
      return PersonTokenResponse.parse(body).data.person_token;
    });
    await shop.record({ person_token: token });
  });
  afterAll(() => app.stop());

  it('finds nothing while the service works', async () => {
    let recorded = 0;
    const record = async (): Promise<void> => {
      // Few: this test and every later one read all of them again.
      for (let times = 0; times < 4 && recorded < 16; times += 1, recorded += 1)
        await shop.backend.recordMany(4, { visitor_id: `visitor-${recorded % 7}` });
      const subject = { by: 'visitor_id', value: `visitor-${recorded % 7}` };
      await shop.inSite('dpo', 'POST', '/erasures', { subject });
    };
    const hasErased = async () => (await count(app.superuser, 'erased_records where erasure_event_id is not null')) > 0;
    for (let times = 0; times < 3 || !(await hasErased()); times += 1) {
      const [{ exitCode, stdout }] = await Promise.all([line.run(['audit', '--json']), record()]);
      expect(Report.parse(JSON.parse(stdout))).toEqual({ findings: [], more: 0 });
      expect(exitCode).toBe(0);
    }
  });

  it('finds that the token of a person is not the one that its record used', async () => {
    const used = `id like 'ptk!_%' escape '!'`;
    const { rows } = await app.superuser.query(`select id, consumed_by from approval_tokens where ${used}`);
    const [{ id, consumed_by }] = z.tuple([z.object({ id: z.string(), consumed_by: z.string() })]).parse(rows);
    const consume = (by: string | null) =>
      app.superuser.query(`update approval_tokens set consumed_by = $1 where ${used}`, [by]);
    await consume(null);
    const { stdout } = await line.run(['audit', '--json']);
    await consume(consumed_by);
    expect(Report.parse(JSON.parse(stdout)).findings).toMatchObject([
      { kind: 'reference-differs', table: 'approval_tokens', key: id },
    ]);
  });

  it('lists what it finds, and ends with 1', async () => {
    await app.superuser.query('alter table tenants disable trigger changes_are_sealed');
    await app.superuser.query(`update tenants set name = 'altered' where id = $1`, [shop.backend.demo.tenant_id]);
    await app.superuser.query('alter table tenants enable trigger changes_are_sealed');
    const json = await line.run(['audit', '--json']);
    expect(json.exitCode).toBe(1);
    expect(Report.parse(JSON.parse(json.stdout)).findings).toMatchObject([
      { kind: 'row-altered', table: 'tenants', key: shop.backend.demo.tenant_id },
    ]);
    const text = await line.run(['audit']);
    expect(text.exitCode).toBe(1);
    expect(text.stdout).toContain(`tenants ${shop.backend.demo.tenant_id}: its seal does not match the row`);
    expect(text.stdout).toContain('What to do: ');
    expect(text.stderr).toContain('The audit found 1 disagreement.');
  });

  it('continues from a file, with the findings of before', async () => {
    const first = await line.run(['audit', '--resume', stateFile, '--json']);
    expect(first.exitCode).toBe(1);
    const state = JSON.parse(await readFile(stateFile, 'utf8'));
    expect(state).toMatchObject({ v: 1, done: [...SECTIONS], findings: [{ table: 'tenants' }] });
    const second = await line.run(['audit', '--resume', stateFile, '--json']);
    expect(JSON.parse(second.stdout)).toEqual(JSON.parse(first.stdout));
    await writeFile(stateFile, '{}');
    expect(await line.run(['audit', '--resume', stateFile])).toMatchObject({ exitCode: 1, stdout: '' });
  });

  it('reads no event of the log twice after an interruption', async () => {
    const { parts, close } = await openAudit(app.service.installation.config, pino({ level: 'silent' }));
    try {
      const states: AuditState[] = [];
      const stop = new AbortController();
      const interrupted = runAudit({
        ...parts,
        signal: stop.signal,
        onState: async (state) => {
          states.push(state);
          if (state.logPosition !== null) stop.abort();
        },
      });
      await expect(interrupted).rejects.toThrow(/abort/i);
      const from = states.at(-1);
      expect(from?.done).not.toContain('log');
      const read: (string | null)[] = [];
      const eventLog = new Proxy(parts.eventLog, {
        get: (target, name) => {
          const value: unknown = Reflect.get(target, name);
          if (name !== 'readAll') return typeof value === 'function' ? value.bind(target) : value;
          return (after: string | null, limit: number) => {
            read.push(after);
            return target.readAll(after, limit);
          };
        },
      });
      const result = await runAudit({ ...parts, eventLog, ...(from !== undefined && { from }) });
      expect(read[0]).toBe(from?.logPosition);
      expect(result.findings).toMatchObject([{ table: 'tenants' }]);
    } finally {
      await close();
    }
  });

  it('needs a database user with no right but to read', async () => {
    const name = `auditor_${randomBytes(6).toString('hex')}`;
    await app.superuser.query(`create user ${name} password 'only-reads'; grant consent_ledger_auditor to ${name}`);
    const url = new URL(app.service.installation.databaseUrl);
    url.username = name;
    url.password = 'only-reads';
    const { exitCode, stdout } = await line.run(['audit', '--json'], { DATABASE_URL: url.toString() });
    expect(exitCode).toBe(1);
    expect(Report.parse(JSON.parse(stdout)).findings).toMatchObject([{ table: 'tenants' }]);
    await app.superuser.query(`drop user ${name}`);
  });

  it('makes no master key, and refuses another one', async () => {
    const other = await line.run(['audit'], { MASTER_KEY: randomBytes(32).toString('hex') });
    expect(other).toMatchObject({ exitCode: 1, stdout: '' });
    expect(other.stderr).toContain('master key');
    const missing = await line.run(['audit'], { DATA_DIR: join(app.service.installation.config.dataDir, 'empty') });
    expect(missing).toMatchObject({ exitCode: 1, stdout: '' });
    expect(missing.stderr).toContain('cannot be read');
  });

  it('has the whole schema compared by migrate as well, which names each difference', async () => {
    const { rows } = await app.superuser.query(
      `select indexdef from pg_indexes where indexname = 'one_open_invitation'`,
    );
    await app.superuser.query('drop index one_open_invitation');
    const found = await line.run(['migrate', '--json']);
    const text = await line.run(['migrate']);
    await app.superuser.query(rows[0]?.indexdef);
    expect(found.exitCode).toBe(0);
    expect(JSON.parse(found.stdout)).toMatchObject({
      migrated: true,
      applied: [],
      differences: [
        {
          object: 'invitations',
          part: 'index one_open_invitation',
          detail: expect.stringMatching(/^is missing: CREATE UNIQUE/),
        },
      ],
    });
    expect(text.stdout).toContain('invitations, index one_open_invitation: is missing');
    expect(JSON.parse((await line.run(['migrate', '--json'])).stdout)).toMatchObject({ differences: [] });
  });

  it('refuses a load that is no percentage', async () => {
    expect((await line.run(['audit', '--load', '0'])).exitCode).toBe(2);
    expect((await line.run(['audit', '--load', '50', '--json'])).exitCode).toBe(1);
  });
});
