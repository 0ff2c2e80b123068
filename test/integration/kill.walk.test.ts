import { afterAll, beforeAll, expect, test } from 'vitest';
import * as z from 'zod';
import { TestInstallation } from '../support/running-service.js';
import { cookieVersionOf, seedTenant } from '../support/seeded-demo.js';
import { postSigned } from '../support/signed-requests.js';
import { until } from '../support/wait.js';

const CONSENTS = 12;
const PATH = '/tool/v1/consents';

const Answer = z.object({ data: z.object({ consent_token: z.string() }) });
const Verified = z.object({ data: z.object({ is_tsa_stamped: z.boolean() }) });
const Counts = z.object({ log_consents: z.int(), stamped_consents: z.int() });

let installation: TestInstallation;
beforeAll(async () => {
  installation = await TestInstallation.make();
});
afterAll(() => installation.remove());

test('what was answered before a kill -9 is there after the restart once, stamped, and known to a retry', async () => {
  const { site, keys, ...demo } = await seedTenant(installation);
  const versionId = cookieVersionOf(demo);
  const numbers = Array.from({ length: CONSENTS }, (_, number) => number);
  const recordAll = (url: string): Promise<string[]> =>
    Promise.all(
      numbers.map(async (number) => {
        const response = await postSigned(url, keys.write, PATH, {
          consent_type: 'cookie',
          decision: 'accepted',
          document_version_id: versionId,
          idempotency_key: `first-visit-${number}`,
          visitor_id: `visitor-${number}`,
        });
        const text = await response.text();
        expect(response.status, text).toBe(202);
        return Answer.parse(JSON.parse(text)).data.consent_token;
      }),
    );
  const killed = await installation.start();
  const tokens = await recordAll(killed.url).finally(() => killed.kill());

  const again = await installation.start();
  try {
    expect(await recordAll(again.url)).toEqual(tokens);
    for (const token of tokens)
      await until(async () => {
        const verified = await fetch(`${again.url}${PATH}/verify/${token}`, { headers: { 'x-api-key': keys.read } });
        return verified.ok && Verified.parse(await verified.json()).data.is_tsa_stamped;
      });
    expect(Counts.parse(await installation.json('admin', 'count', '--site', site.id))).toEqual({
      log_consents: CONSENTS,
      stamped_consents: CONSENTS,
    });
  } finally {
    await again.stop();
  }
});
