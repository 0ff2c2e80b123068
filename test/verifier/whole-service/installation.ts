import { type SpawnSyncReturns, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import pg from 'pg';
import * as z from 'zod';
import { loadConfig } from '../../../src/platform/config/index.js';
import { createPool } from '../../../src/platform/database/pool.js';
import { createKeyring, type Keyring, loadMasterKey } from '../../../src/platform/keys/index.js';
import { ReportSchema } from '../../../verifier-cli/src/report/report-schema.js';
import { copyTestDatabase, createTestDatabase, type TestDatabase } from '../../support/postgres.js';
import { type RunningService, TestInstallation } from '../../support/running-service.js';
import { cookieVersionOf, type SeededTenant } from '../../support/seeded-demo.js';
import { postSigned } from '../../support/signed-requests.js';

const VERIFY = fileURLToPath(new URL('../../../verifier-cli/bin/consent-verify.js', import.meta.url));

/** Files to copy into a restored installation: the master key and the development authority. */
const BACKED_UP = ['master.key', 'development-tsa'];

/** The answer to one consent, as its caller receives and keeps it. */
export const Answer = z.looseObject({
  data: z.looseObject({ consent_token: z.string(), promise: z.looseObject({ text: z.string() }) }),
});
export type Answer = z.infer<typeof Answer>;
const Login = z.object({ data: z.object({ access_token: z.string() }) });

/** The event id in the promise of an answer. */
export function eventIdOf(answer: Answer): string {
  return answer.data.promise.text.split('\n')[3] ?? '';
}

/** An installation as its operator has it: every file, every key, and the database's superuser. */
export class OperatedInstallation {
  private constructor(
    readonly installation: TestInstallation,
    readonly database: TestDatabase,
  ) {}

  static async make(env: NodeJS.ProcessEnv): Promise<OperatedInstallation> {
    const database = await createTestDatabase();
    return new OperatedInstallation(await TestInstallation.make({ ...env, DATABASE_URL: database.url }), database);
  }

  /** Restores a copy of database and keys beside this one. No process may use the database. */
  async restoreElsewhere(env: NodeJS.ProcessEnv, from = this.database.url): Promise<OperatedInstallation> {
    const database = await copyTestDatabase(from);
    const installation = await TestInstallation.make({ ...env, DATABASE_URL: database.url });
    for (const name of BACKED_UP)
      await cp(join(this.installation.dataDir, name), join(installation.dataDir, name), { recursive: true });
    return new OperatedInstallation(installation, database);
  }

  /** The same installation with further variables. */
  with(env: NodeJS.ProcessEnv): OperatedInstallation {
    return new OperatedInstallation(this.installation.with(env), this.database);
  }

  /** Runs statements as the superuser, with every trigger off. */
  async sql(...statements: readonly [text: string, ...values: unknown[]][]): Promise<unknown[]> {
    const client = new pg.Client({ connectionString: this.database.url });
    await client.connect();
    try {
      let rows: unknown[] = [];
      for (const [text, ...values] of statements) ({ rows } = await client.query(text, values));
      return rows;
    } finally {
      await client.end();
    }
  }

  /** Gives the work the keys of the installation, which its master key opens. */
  async withKeys<T>(work: (keyring: Keyring, db: pg.Pool) => Promise<T>): Promise<T> {
    const db = createPool({
      url: this.database.url,
      applicationName: 'operator',
      maxConnections: 2,
      statementTimeoutMs: 60_000,
      onIdleError: () => undefined,
    });
    try {
      const config = loadConfig({ DATABASE_URL: this.database.url, DATA_DIR: this.installation.dataDir });
      return await work(await createKeyring(db, await loadMasterKey(config.masterKey)), db);
    } finally {
      await db.end();
    }
  }

  /** Writes a package of a site by `evidence export`. @throws Error with its message if it fails */
  async export(siteId: string, path: string, ...options: readonly string[]): Promise<void> {
    const args = ['evidence', 'export', '--site', siteId, '--output', path, ...options];
    const { exitCode, stderr } = await this.installation.run(...args);
    if (exitCode !== 0) throw new Error(stderr);
  }

  async remove(): Promise<void> {
    await this.installation.remove();
    await this.database.drop();
  }
}

/** A caller of the Tool API: the site's own backend. */
export class Caller {
  constructor(
    readonly seed: SeededTenant,
    /** Difference of the service's clock to that of this machine, in milliseconds. */
    readonly clockMs = 0,
  ) {}

  get versionId(): string {
    return cookieVersionOf(this.seed);
  }

  /** Records a consent of a visitor. @returns the whole answer */
  async record(service: RunningService, visitor: string, decision = 'accepted'): Promise<Answer> {
    const consent = {
      consent_type: 'cookie',
      decision,
      document_version_id: this.versionId,
      visitor_id: visitor,
    };
    const path = '/tool/v1/consents';
    const at = Date.now() + this.clockMs;
    const response = await postSigned(service.url, this.seed.keys.write, path, consent, at);
    const text = await response.text();
    if (response.status !== 202) throw new Error(`the service answered ${response.status}: ${text}`);
    return Answer.parse(JSON.parse(text));
  }

  /** Asks the service whether it has the record. @returns status of the response */
  async verify(service: RunningService, { data }: Answer): Promise<number> {
    const headers = { 'x-api-key': this.seed.keys.read };
    return (await fetch(`${service.url}/tool/v1/consents/verify/${data.consent_token}`, { headers })).status;
  }

  /** Gets the receipt of a record, with every value of the person. @returns its text */
  async receipt(service: RunningService, { data }: Answer): Promise<string> {
    const { email, password } = this.seed.api_user;
    const login = await fetch(`${service.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    const { access_token: bearer } = Login.parse(await login.json()).data;
    const headers = { 'x-api-key': this.seed.keys.write, authorization: `Bearer ${bearer}` };
    const path = `/tool/v1/s2s/consents/${data.consent_token}/receipt?disclose=all`;
    const response = await fetch(service.url + path, { headers });
    const text = await response.text();
    if (!response.ok) throw new Error(`no receipt: ${response.status} ${text}`);
    return text;
  }
}

/** A folder in which the parties keep their files, and the standalone verifier. */
export class Files {
  readonly folder = mkdtempSync(join(tmpdir(), 'consent-play-'));

  path(name: string): string {
    return join(this.folder, name);
  }

  write(name: string, content: Uint8Array | string): string {
    writeFileSync(this.path(name), content);
    return name;
  }

  /** Runs `consent-verify` in the folder. */
  run(...args: readonly string[]): SpawnSyncReturns<string> {
    return spawnSync(process.execPath, [VERIFY, ...args], { encoding: 'utf8', cwd: this.folder });
  }

  /** Runs `consent-verify check` with the keys that every party knows. */
  check(file: string, ...options: readonly string[]) {
    const trust = ['--ledger-key', 'ledger.vkey', '--tsa-ca', 'tsa.pem'];
    const { stdout, stderr } = this.run('check', file, ...trust, ...options, '--json');
    if (stdout === '') throw new Error(stderr);
    const report = ReportSchema.parse(JSON.parse(stdout));
    // A verifier cannot know the key of proof hashes.
    const checks = report.checks.filter(
      ({ id, outcome }) => (outcome === 'fail' || outcome === 'indeterminate') && id !== 'record.proof-hash',
    );
    return {
      verdict: report.verdict,
      checks: [...new Set(checks.map(({ id }) => id))],
      promises: report.promises.map(({ outcome }) => outcome),
      report,
    };
  }

  remove(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Options of a witness. Files and folders are names in its folder. */
interface WitnessOptions {
  readonly env?: NodeJS.ProcessEnv;
  readonly keyFile?: string;
  readonly state?: string;
  /** URL of the structure that it audits before it cosigns. */
  readonly structure?: string;
}

/** `consent-verify witness` as a process, which the operator does not control. */
export class Witness {
  private constructor(
    private readonly stopped: () => Promise<void>,
    readonly lines: readonly string[],
  ) {}

  /** Starts it with its key and its state in `files`. */
  static async start(
    files: Files,
    port: number,
    { env = {}, keyFile = 'witness.key', state = 'witness-state', structure }: WitnessOptions = {},
  ): Promise<Witness> {
    const options = ['--key-file', keyFile, '--state', state, '--ledger-key', 'ledger.vkey'];
    if (structure !== undefined) options.push('--structure', structure);
    const child = spawn(process.execPath, [VERIFY, 'witness', '--listen', `127.0.0.1:${port}`, ...options], {
      cwd: files.folder,
      env: { PATH: process.env.PATH, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    const outputs = [child.stdout, child.stderr].map((input) => createInterface({ input }));
    const listens = Promise.race([
      ...outputs.map(
        (output) =>
          new Promise<void>((resolve) =>
            output.on('line', (line) => {
              lines.push(line);
              resolve();
            }),
          ),
      ),
      once(child, 'exit').then(() => Promise.reject(new Error('the witness ended'))),
    ]);
    await listens;
    return new Witness(async () => {
      child.kill();
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
    }, lines);
  }

  async stop(): Promise<void> {
    await this.stopped();
  }
}
