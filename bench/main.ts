import { createSecretKey, randomBytes } from 'node:crypto';
import { chmod, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type EmbeddedPostgres, openEmbeddedPostgres } from '../src/platform/database/embedded/index.js';
import { migrate } from '../src/platform/database/migrate.js';
import { loadMigrations } from '../src/platform/database/migrations.js';
import { createPool } from '../src/platform/database/pool.js';
import { createKeyring } from '../src/platform/keys/index.js';
import { createSiteFixture, type SiteFixture } from '../test/pipeline/admission/site-fixture.js';
import { benchAudit } from './audit.js';
import { benchBanner } from './banner.js';
import { benchBatches } from './batches.js';
import { startBenchedService } from './benched-service.js';
import { benchEventStoreDb } from './eventstoredb.js';
import { machineFacts } from './machine.js';
import { benchNeighbours } from './neighbours.js';
import { benchPeer } from './peer.js';
import { benchPersons, benchTagsOfBatch } from './person-tags.js';
import { benchProcesses } from './processes.js';
import { benchServe } from './serve.js';
import { benchSingles } from './singles.js';
import { benchStored } from './stored.js';
import { benchVisitors } from './visitors.js';
import { benchWorker } from './worker.js';

const ROUNDS = 7;

type Part = (postgres: EmbeddedPostgres, masterKey: Uint8Array, site: SiteFixture) => Promise<void>;

/** Not measured unless the command line names it, because it fills a database first. */
const STORED = 'stored';
/** Not measured unless the command line names it, because it fills a database first. */
const AUDIT = 'audit';
/** Not measured unless the command line names it, because it installs packages and needs Chromium. */
const BANNER = 'banner';
/** Not measured unless the command line names it, because it measures no throughput. */
const NEIGHBOURS = 'neighbours';
/** Not measured unless the command line names it, because it installs packages. */
const PEER = 'peer';
/** Not measured unless the command line names it, because it compares the service with itself. */
const PROCESSES = 'processes';

/** Not measured unless the command line names it, because it fills a database first. */
const VISITORS = 'visitors';

/** Parts of the benchmark by name; the command line may name some of them. */
const PARTS: Readonly<Record<string, Part>> = {
  admission: async (postgres, masterKey, site) => {
    const service = await startBenchedService(postgres, masterKey, site);
    try {
      await benchSingles(service, ROUNDS);
      console.log('');
      await benchBatches(service, postgres.superuserUrl, ROUNDS);
      console.log('');
      await benchPersons(service, ROUNDS);
      benchTagsOfBatch();
    } finally {
      await service.stop();
    }
  },
  worker: benchWorker,
  serve: benchServe,
  [STORED]: benchStored,
  [AUDIT]: benchAudit,
  [BANNER]: benchBanner,
  [NEIGHBOURS]: benchNeighbours,
  [PEER]: benchPeer,
  [PROCESSES]: benchProcesses,
  [VISITORS]: benchVisitors,
};

/** Not measured unless the command line names it, because it needs a server. */
const EVENTSTOREDB = 'eventstoredb';

const names = process.argv.slice(2);
const unknown = names.find((name) => name !== EVENTSTOREDB && !Object.hasOwn(PARTS, name));
if (unknown !== undefined) {
  console.error(`There is no part ${unknown}. Parts: ${[...Object.keys(PARTS), EVENTSTOREDB].join(', ')}.`);
  process.exit(2);
}
const { EVENTSTORE_URL: eventStoreUrl } = process.env;
if (names.includes(EVENTSTOREDB) && eventStoreUrl === undefined) {
  console.error('EVENTSTORE_URL must name an EventStoreDB that is new and that no other program uses.');
  process.exit(2);
}
for (const line of machineFacts()) console.log(line);
for (const [name, part] of Object.entries(PARTS)) {
  if (
    names.length > 0
      ? !names.includes(name)
      : [STORED, AUDIT, BANNER, NEIGHBOURS, PEER, PROCESSES, VISITORS].includes(name)
  )
    continue;
  console.log('');
  await inNewDatabase(part);
}
if (names.includes(EVENTSTOREDB) && eventStoreUrl !== undefined) {
  console.log('');
  await inNewDatabase((...database) => benchEventStoreDb(eventStoreUrl, ...database));
}

async function inNewDatabase(part: Part): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'consent-ledger-bench-'));
  // For root, the files of the server are in a folder of another account, which needs access through
  // this folder.
  await chmod(dataDir, 0o755);
  const postgres = await openEmbeddedPostgres({ dataDir, rootHomeBase: join(dataDir, 'home'), log: () => undefined });
  try {
    const options = {
      url: postgres.superuserUrl,
      applicationName: 'bench set-up',
      maxConnections: 2,
      statementTimeoutMs: 60_000,
      onIdleError: (error: Error) => console.error(error),
    };
    const owner = createPool(options);
    await migrate(owner, loadMigrations());
    const masterKey = randomBytes(32);
    const keyring = await createKeyring(owner, createSecretKey(masterKey));
    const pool = createPool({ ...options, transactions: keyring.sealing });
    const site = await createSiteFixture(pool);
    await Promise.all([owner.end(), pool.end()]);
    await part(postgres, masterKey, site);
  } finally {
    await postgres.release();
    await rm(dataDir, { recursive: true, force: true });
  }
}
