import pino from 'pino';
import { expect } from 'vitest';
import * as z from 'zod';
import { consentToken } from '../../schemas/events/consent-recorded.js';
import { consentsStream } from '../../schemas/events/streams.js';
import { openInstallation } from '../../src/app/installation.js';
import { loadConfig } from '../../src/platform/config/index.js';
import type { TestInstallation } from '../support/running-service.js';

const Counts = z.looseObject({ outbox_waiting: z.number(), log_consents: z.number() });

/**
 * Waits until the installation of a running service has settled. Expects each accepted consent once in
 * the log, the read model, the Merkle batches and under a time stamp, no other consent anywhere, and an
 * audit without findings.
 */
export async function expectKept(
  installation: TestInstallation,
  siteId: string,
  accepted: readonly string[],
): Promise<void> {
  const count = async () => Counts.parse(await installation.json('admin', 'count', '--site', siteId));
  await expect.poll(count, { interval: 1_000 }).toMatchObject({
    outbox_waiting: 0,
    log_consents: accepted.length,
    read_model_rows: accepted.length,
    consent_leaves: accepted.length,
    stamped_consents: accepted.length,
  });
  expect((await tokensInLog(installation, siteId)).toSorted()).toEqual(accepted.toSorted());
  expect(await installation.json('audit')).toMatchObject({ findings: [], more: 0 });
}

async function tokensInLog(installation: TestInstallation, siteId: string): Promise<string[]> {
  const config = loadConfig(installation.env);
  const opened = await openInstallation(config, pino({ level: 'silent' }), { role: 'test', migrates: false });
  try {
    const tokens: string[] = [];
    for (;;) {
      const page = await opened.eventLog.readStream(consentsStream(siteId), tokens.length, 500);
      if (page.length === 0) return tokens;
      tokens.push(...page.map(({ id }) => consentToken(id)));
    }
  } finally {
    await opened.close();
  }
}
