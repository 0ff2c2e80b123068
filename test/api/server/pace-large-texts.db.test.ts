import fastify from 'fastify';
import { expect, it } from 'vitest';
import { paceLargeTexts } from '../../../src/api/server/pace-large-texts.js';
import { until } from '../../support/wait.js';

it('sends large texts one behind the other, and small ones at once', async () => {
  const app = fastify();
  paceLargeTexts(app, () => performance.now());
  app.get('/large', (_request, reply) => reply.send(Buffer.alloc(5_000_000)));
  app.get('/small', (_request, reply) => reply.send(Buffer.from('small')));
  await app.ready();
  // On a machine that stands still meanwhile, small texts are late as well. Were they in the line, they would never be early.
  await until(async () => {
    const startedAt = performance.now();
    const timeOf = async (url: string): Promise<number> => {
      const { rawPayload } = await app.inject(url);
      expect(rawPayload.length).toBe(url === '/small' ? 5 : 5_000_000);
      return performance.now() - startedAt;
    };
    const large = Array.from({ length: 5 }, () => timeOf('/large'));
    const small = await timeOf('/small');
    const times = await Promise.all(large);
    // Each takes 50 ms, and the first does not wait.
    times.forEach((time, place) => {
      expect(time).toBeGreaterThanOrEqual(place * 50 - 1);
    });
    return small < (times[4] ?? 0);
  });
  await app.close();
});
