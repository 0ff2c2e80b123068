import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import * as z from 'zod';
import { TokensResponse } from '../schemas/api/auth.js';
import { type SeededDemo, seedDemo } from '../src/demo/seed/seed-demo.js';
import { type SearchPlace, searchConsents } from '../src/evidence/records/search-consents.js';
import type { EmbeddedPostgres } from '../src/platform/database/embedded/index.js';
import { blindIndex } from '../src/platform/keys/index.js';
import type { SiteFixture } from '../test/pipeline/admission/site-fixture.js';
import { recordManyConsents } from '../test/support/recorded-consents.js';
import { settled } from './pipeline-backlog.js';
import { openServeBench, type ServeBench, usage } from './serve.js';
import { openFiller } from './stored.js';

/** Records of one visitor each. */
const SIZES = [100, 10_000, Number(process.env.BENCH_VISITOR ?? '100000')];
/** Consents that are stored before the worker processes them. */
const PAGE = 20_000;
/** Work for fewer records is repeated, because the system counts processor time in steps of 10 ms. */
const REPEATED_UP_TO = 5_000;
/** A further record may cost so many times as much where there are many. */
const GOAL = 1.5;
const LIMIT = 100;

/** Work for all records of one visitor. */
interface Work {
  readonly name: string;
  /** @returns processor time in ms of a process that ran for this work alone */
  run(visitor: string, records: number): Promise<number>;
  /** Whether it can be done once only, or takes seconds to start. */
  readonly isSingle: boolean;
  /** Whether it reads the records of all visitors. */
  readonly isOfAll?: boolean;
}

/** In milliseconds. */
interface Cost {
  /** Records that were read. */
  readonly records: number;
  readonly wall: number;
  /** Processor time of the service and of commands. */
  readonly service: number;
  readonly postgres: number;
}

/**
 * Measures what reads all records of one visitor, for visitors with more and more records: processor time of
 * service, commands and PostgreSQL for each further record. It must not grow with the number of records.
 * @param key the master key of the database, 32 bytes
 */
export async function benchVisitors(postgres: EmbeddedPostgres, key: Uint8Array, site: SiteFixture): Promise<void> {
  const bench = await openServeBench(postgres, Buffer.from(key), site, {
    BATCH_MAX_AGE_MS: '1000',
    STAMP_INTERVAL_MS: '1000',
  });
  const filler = openFiller(postgres);
  try {
    const options = { hasSubscription: true, isVerified: true, allowedOrigins: [], allowedIps: [] };
    const demo = await seedDemo(bench.owner, { ...options, rateLimit: 1_000_000 });
    let token = '';
    const works = worksOf(bench, demo, () => token);
    const costs = works.map((): Cost[] => []);
    console.log('Work for all records of one visitor');
    let stored = 0;
    for (const size of SIZES) {
      const visitor = `visitor with ${size}`;
      await fill(bench, filler, demo, visitor, size);
      stored += size;
      token = await signIn(bench, demo);
      for (const [place, work] of works.entries()) {
        const cost = {
          records: work.isOfAll === true ? stored : size,
          ...(await measure(bench, work, visitor, size)),
        };
        costs[place]?.push(cost);
        console.log(`  ${work.name}, ${describe(cost)}`);
      }
    }
    for (const [place, { name }] of works.entries()) printGrowth(name, costs[place] ?? []);
  } finally {
    await bench.close();
    await filler.end();
  }
}

async function fill(
  bench: ServeBench,
  filler: pg.Pool,
  demo: SeededDemo,
  visitor: string,
  records: number,
): Promise<void> {
  const version = demo.documents
    .find(({ kind }) => kind === 'cookie_policy')
    ?.versions.find(({ language, state }) => language === 'en' && state === 'active');
  const sites = { tenantId: demo.tenant_id, siteIds: [demo.site.id], documentVersionId: version?.id ?? '' };
  for (let done = 0; done < records; done += PAGE) {
    await recordManyConsents(filler, bench.keyring, sites, Math.min(PAGE, records - done), {
      visitorOf: () => visitor,
    });
    await settled(filler);
  }
}

/** @param token access token of the backend's user */
function worksOf(bench: ServeBench, demo: SeededDemo, token: () => string): readonly Work[] {
  const { serve, owner, keyring } = bench;
  const siteId = demo.site.id;
  const get = async (path: string): Promise<string> => {
    const headers = { 'x-api-key': demo.keys.read, authorization: `Bearer ${token()}` };
    const response = await fetch(`http://127.0.0.1:${serve.port}${path}`, { headers });
    const text = await response.text();
    if (response.status !== 200) throw new Error(`${path} was answered with ${response.status}: ${text}`);
    return text;
  };
  const command = async (...args: readonly string[]): Promise<number> => (await serve.command(...args)).seconds * 1000;
  return [
    {
      name: 'record export as NDJSON',
      isSingle: false,
      run: async (visitor, records) => {
        const query = new URLSearchParams({ visitor_id: visitor, format: 'ndjson' });
        const lines = (await get(`/tool/v1/s2s/consents/export?${query}`)).split('\n').length - 1;
        if (lines !== records) throw new Error(`the export has ${lines} of ${records} records`);
        return 0;
      },
    },
    {
      name: 'status, of which nothing matches',
      isSingle: false,
      run: async (visitor) => {
        await get(`/tool/v1/consents/status?${new URLSearchParams({ visitor_id: visitor, consent_type: 'none' })}`);
        return 0;
      },
    },
    {
      name: `history in the panel, ${LIMIT} records a request`,
      isSingle: false,
      run: async (visitor, records) => {
        const before = process.cpuUsage();
        const person = {
          kind: 'visitor',
          index: blindIndex(await keyring.siteKey(siteId), 'visitor', visitor),
        } as const;
        let found = 0;
        for (let after: SearchPlace | null = null; ; ) {
          const page = await searchConsents(owner, keyring, { siteId, filter: { limit: LIMIT }, person, after });
          found += page.rows.length;
          if (page.next === null) break;
          after = page.next;
        }
        if (found !== records) throw new Error(`the history has ${found} of ${records} records`);
        const { user, system } = process.cpuUsage(before);
        return (user + system) / 1000;
      },
    },
    {
      name: 'evidence package of the visitor, by the command',
      isSingle: true,
      run: async (visitor) => {
        const output = join(tmpdir(), `consent-ledger-bench-visitor-${process.pid}.zip`);
        try {
          return await command(
            'evidence',
            'export',
            '--site',
            siteId,
            '--visitor',
            visitor,
            '--output',
            output,
            '--wait',
          );
        } finally {
          await rm(output, { force: true });
        }
      },
    },
    {
      name: 'audit of the whole installation, by the command',
      isSingle: true,
      isOfAll: true,
      run: () => command('audit'),
    },
    {
      name: 'erasure of the visitor, by the command',
      isSingle: true,
      run: (visitor) => command('admin', 'erase', '--site', siteId, '--visitor', visitor),
    },
  ];
}

async function signIn({ serve }: ServeBench, { api_user }: SeededDemo): Promise<string> {
  const response = await fetch(`http://127.0.0.1:${serve.port}/api/v1/auth/login`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(api_user),
  });
  return TokensResponse.parse(await response.json()).data.access_token;
}

async function measure(
  bench: ServeBench,
  work: Work,
  visitor: string,
  records: number,
): Promise<Omit<Cost, 'records'>> {
  const times = work.isSingle ? 1 : Math.max(1, Math.round(REPEATED_UP_TO / records));
  const before = await usage(bench);
  const started = performance.now();
  let own = 0;
  for (let time = 0; time < times; time += 1) own += await work.run(visitor, records);
  const wall = performance.now() - started;
  const after = await usage(bench);
  return {
    wall: wall / times,
    service: (own + after.main - before.main) / times,
    postgres: (after.postgres - before.postgres) / times,
  };
}

function describe({ records, wall, service, postgres }: Cost): string {
  const each = (ms: number): string => ((ms * 1000) / records).toFixed(0);
  return (
    `${records.toLocaleString('en')} records: ${(wall / 1000).toFixed(3)} s; processor time of each: service ` +
    `${each(service)} µs, PostgreSQL ${each(postgres)} µs`
  );
}

function printGrowth(name: string, costs: readonly Cost[]): void {
  const [few, some, many] = z.tuple([CostOf, CostOf, CostOf]).parse(costs);
  // A request or a command begins with what costs the same for each visitor.
  const growth = eachFurther(some, many) / eachFurther(few, some);
  const count = ({ records }: Cost): string => records.toLocaleString('en');
  console.log(
    `${name}: a further record costs ${growth.toFixed(2)} times as much at ${count(many)} as up to ${count(some)} ` +
      `(goal ${GOAL}, ${growth <= GOAL ? 'met' : 'missed'})`,
  );
}

function eachFurther(few: Cost, many: Cost): number {
  return (many.service + many.postgres - few.service - few.postgres) / (many.records - few.records);
}

const CostOf = z.object({ records: z.int(), wall: z.number(), service: z.number(), postgres: z.number() });
