import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import pino from 'pino';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { CONSENT_RECORDED, consentToken } from '../../schemas/events/consent-recorded.js';
import { consentsStream } from '../../schemas/events/streams.js';
import { openInstallation } from '../../src/app/installation.js';
import { loadConfig } from '../../src/platform/config/index.js';
import { type RunningService, TestInstallation } from '../support/running-service.js';
import { cookieVersionOf, type SeededTenant, seedTenant } from '../support/seeded-demo.js';
import { postSigned } from '../support/signed-requests.js';
import { sampled } from '../support/sweeps.js';
import { until } from '../support/wait.js';

const ROUNDS = ['service', 'service', 'postgres', 'both', 'both'] as const;
const WRITERS = 6;
/** Between two actions of a writer. */
const PAUSE_MS = 20;

const Single = z.object({ data: z.object({ consent_token: z.string() }) });
const Batch = z.object({ data: z.object({ results: z.array(z.object({ consent_token: z.string() })) }) });
const Counts = z.object({
  outbox_waiting: z.number(),
  log_events: z.number(),
  log_consents: z.number(),
  read_model_rows: z.number(),
  consent_leaves: z.number(),
  stamped_consents: z.number(),
  stamped_events: z.number(),
});

const Compared = z.object({ comparison: z.array(z.object({ table: z.string(), equal: z.boolean() })) });

/**
 * One user action: a single consent or a submission batch. It is retried with the same idempotency
 * keys until it gets a response.
 */
interface Action {
  readonly keys: readonly string[];
}

describe('an installation that is killed repeatedly under load', () => {
  let installation: TestInstallation;
  let service: RunningService;
  let seed: SeededTenant;
  let versionId: string;
  /**
   * Token of the response for each idempotency key; the response to a retry must have the same one.
   */
  const answered = new Map<string, string>();
  const unanswered: Action[] = [];
  let nextAction = 0;

  beforeAll(async () => {
    installation = await TestInstallation.makeEmbedded();
    service = await installation.start();
    seed = await seedTenant(installation, '--rate-limit', '1000000');
    versionId = cookieVersionOf(seed);
  });
  afterAll(async () => {
    await service?.stop();
    await installation?.remove();
  });

  function newAction(): Action {
    nextAction += 1;
    const size = nextAction % 7 === 0 ? 10 : 1;
    return { keys: Array.from({ length: size }, (_, i) => `action-${nextAction}-${i}`) };
  }

  /**
   * Sends an action once.
   * @returns false if the response is not 202
   */
  async function send({ keys }: Action): Promise<boolean> {
    const consents = keys.map((key) => ({
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: versionId,
      idempotency_key: key,
      visitor_id: `visitor-${key}`,
    }));
    const isBatch = consents.length > 1;
    const path = isBatch ? '/tool/v1/consents/batch' : '/tool/v1/consents';
    let tokens: string[];
    try {
      const response = await postSigned(service.url, seed.keys.write, path, isBatch ? { consents } : consents[0]);
      const text = await response.text();
      if (response.status !== 202) {
        expect(response.status, text).toBe(503);
        return false;
      }
      tokens = isBatch
        ? Batch.parse(JSON.parse(text)).data.results.map((result) => result.consent_token)
        : [Single.parse(JSON.parse(text)).data.consent_token];
    } catch (error) {
      if (error instanceof TypeError) return false;
      throw error;
    }
    keys.forEach((key, i) => {
      const before = answered.get(key);
      if (before !== undefined) expect(tokens[i]).toBe(before);
      answered.set(key, tokens[i] ?? '');
    });
    return true;
  }

  async function loadUntil(signal: AbortSignal): Promise<void> {
    const write = async (): Promise<void> => {
      while (!signal.aborted) {
        const action = newAction();
        if (!(await send(action))) unanswered.push(action);
        await sleep(PAUSE_MS);
      }
    };
    await Promise.all(Array.from({ length: WRITERS }, write));
  }

  function killPostgres(): void {
    const config = execFileSync('ps', ['-eo', 'pid,args'], { encoding: 'utf8' });
    const dataDir = postgresFolder();
    const [pid] = config.split('\n').flatMap((line) => {
      const match = /^\s*(\d+)\s+(\S*postgres\s.*)$/.exec(line);
      return match?.[1] !== undefined && match[2]?.includes(dataDir) ? [Number(match[1])] : [];
    });
    if (pid === undefined) throw new Error(`no PostgreSQL of ${dataDir} is running`);
    process.kill(pid, 'SIGKILL');
  }

  let folder = '';
  function postgresFolder(): string {
    return folder;
  }

  test.each(sampled('kills under load', ROUNDS))(
    'keeps every answered consent after a kill -9 of the %s, and accepts retries of the others',
    async (victim) => {
      const config = loadConfig({ DATA_DIR: installation.dataDir });
      const opened = await openInstallation(config, pino({ level: 'silent' }), { role: 'test', migrates: false });
      folder = opened.embedded?.home ?? '';
      await opened.close();

      const stop = new AbortController();
      const load = loadUntil(stop.signal);
      const before = answered.size;
      await until(() => answered.size > before + WRITERS);
      await sleep(Math.random() * 1000);
      if (victim !== 'service') killPostgres();
      if (victim !== 'postgres') await service.kill();
      else await sleep(1000);
      stop.abort();
      await load;
      if (victim !== 'postgres') service = await installation.start();

      for (const action of unanswered.splice(0)) {
        await until(() => send(action), 200);
      }
    },
  );

  test('has every consent with a 202 response in the log exactly once, with equal counts in all stages', async () => {
    const counts = await settledCounts();
    expect(counts).toMatchObject({
      log_consents: answered.size,
      read_model_rows: answered.size,
      consent_leaves: answered.size,
      stamped_consents: answered.size,
    });
    const config = loadConfig({ DATA_DIR: installation.dataDir });
    const opened = await openInstallation(config, pino({ level: 'silent' }), { role: 'test', migrates: false });
    const logged: string[] = [];
    for (;;) {
      const page = await opened.eventLog.readStream(consentsStream(seed.site.id), logged.length, 500);
      if (page.length === 0) break;
      for (const event of page) {
        expect(event.type).toBe(CONSENT_RECORDED);
        logged.push(consentToken(event.id));
      }
    }
    await opened.close();
    expect(logged.toSorted()).toEqual([...answered.values()].sort());
    expect(new Set(logged).size).toBe(logged.length);
  });

  test('has read models that equal a replay, whose commits do not wait for the disk', async () => {
    for (const name of ['consents', 'notices', 'daily_counts']) {
      const { comparison } = Compared.parse(await installation.json('projections', 'compare', name));
      expect(comparison.length).toBeGreaterThan(0);
      expect(comparison.filter(({ equal }) => !equal)).toEqual([]);
    }
  });

  async function settledCounts(): Promise<z.infer<typeof Counts>> {
    return until(async () => {
      const counts = Counts.parse(await installation.json('admin', 'count', '--site', seed.site.id));
      const isSettled = counts.outbox_waiting === 0 && counts.stamped_events === counts.log_events;
      return isSettled && counts.read_model_rows === counts.log_consents ? counts : null;
    }, 500);
  }
});
