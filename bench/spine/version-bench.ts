import { fork } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { z } from 'zod';
import {
  type EmbeddedPostgres,
  openEmbeddedPostgres,
  removeEmbeddedPostgres,
} from '../../src/platform/database/embedded/index.js';
import { createPool } from '../../src/platform/database/pool.js';
import { nextMessage } from '../messages.js';
import { type BacklogSql, backlogSqlOf } from '../pipeline-backlog.js';
import { postmasterPid } from '../processor-time.js';
import { RunningRole } from '../running-role.js';
import type { BuiltVersion } from './built-version.js';

/** Sites are sealed soon after a round, without a wait for a batch that is not full. */
const BATCH_MAX_AGE_MS = 2_000;
/** More than the connections of any load: none is refused for their number. */
const MOST_IN_PROGRESS = 2_000;

const Sites = z.array(
  z.object({
    siteId: z.string(),
    writeKey: z.string(),
    readKey: z.string(),
    versions: z.object({ cookieEn: z.string() }),
  }),
);
export type BenchedSite = z.infer<typeof Sites>[number];

/** `serve` of one version with its own embedded PostgreSQL. */
export interface VersionBench {
  readonly name: string;
  readonly serve: RunningRole;
  /** The superuser of its database. */
  readonly db: pg.Pool;
  readonly postmaster: number;
  readonly backlog: BacklogSql;
  readonly sites: readonly BenchedSite[];
  close(): Promise<void>;
}

/** Starts `serve` of a version as a user does, and makes sites. */
export async function openVersionBench(version: BuiltVersion, sites: number): Promise<VersionBench> {
  const dataDir = await mkdtemp(join(tmpdir(), 'consent-ledger-bench-spine-'));
  const masterKey = randomBytes(32);
  const closers: (() => Promise<unknown>)[] = [];
  const close = async (): Promise<void> => {
    for (const closer of closers.toReversed()) await closer();
  };
  closers.push(async () => {
    await removeEmbeddedPostgres(dataDir);
    await rm(dataDir, { recursive: true, force: true });
  });
  try {
    const env = {
      DATA_DIR: dataDir,
      BATCH_MAX_AGE_MS: String(BATCH_MAX_AGE_MS),
      ADMISSION_MAX_IN_PROGRESS: String(MOST_IN_PROGRESS),
    };
    const serve = await RunningRole.start('serve', '', masterKey, env, version.ledger);
    closers.push(() => serve.stop());
    // The version has started its server with its own settings; this attaches to it.
    const postgres = await openEmbeddedPostgres({ dataDir, log: () => undefined });
    closers.push(() => postgres.release());
    const db = createPool({
      url: postgres.superuserUrl,
      applicationName: 'consent-ledger bench',
      maxConnections: 2,
      statementTimeoutMs: 600_000,
      onIdleError: (error: Error) => console.error(error),
    });
    closers.push(() => db.end());
    return {
      name: version.name,
      serve,
      db,
      postmaster: await postmasterPid(postgres.superuserUrl),
      backlog: await backlogSqlOf(db),
      sites: await makeSites(version, postgres, masterKey, sites),
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function makeSites(
  { sitesProgram }: BuiltVersion,
  postgres: EmbeddedPostgres,
  masterKey: Buffer,
  sites: number,
): Promise<BenchedSite[]> {
  const settings = { databaseUrl: postgres.superuserUrl, masterKey: masterKey.toString('base64'), sites };
  const child = fork(sitesProgram, [JSON.stringify(settings)], { execArgv: [] });
  return nextMessage(child, Sites);
}
