import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { FastifyInstance } from 'fastify';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { agentSkills } from '../../../src/api/discovery/agent-skills.js';
import { PANEL_API, TOOL_API } from '../../../src/api/discovery/api-catalog.js';
import { PLACES } from '../../../src/api/discovery/places.js';
import { type RunningApp, startApp } from '../server/running-app.js';
import { ALL_OPERATIONS } from './all-operations.js';

/** Routes that are no operations: documents for agents and browsers, and probes. */
const OTHERS = [
  ...Object.values(PLACES).map(({ path }) => path),
  '/readyz',
  ...agentSkills().map(({ path }) => path),
  TOOL_API.base,
  PANEL_API.base,
  '/security.txt',
  '/healthz',
  '/metrics',
  '/docs/*',
  '/panel/*',
  '/panel/assets/:name',
  '/panel/banner-preview',
  '/verify/verify-page.js',
  '/sdk/gate.js',
  '/sdk/draft.js',
  '/sdk/inspect.js',
  '/sdk/tag-manager.js',
  '/sdk/placeholder.js',
  '/sdk/withdrawn.js',
  '/sdk/account.js',
  '/sdk/policy.js',
  '/sdk/opt-out.js',
  '/sdk/iab.js',
  '/sdk/iab-stub.js',
  '/sdk/vendor-lists/:name',
];

/** Published by Fastify for each new instance, before its routes are registered. */
const CHANNEL = 'fastify.initialization';
const Message = z.object({
  fastify: z.custom<FastifyInstance>((value) => typeof value === 'object' && value !== null && 'addHook' in value),
});

describe('the routes of the service', () => {
  let app: RunningApp;
  const registered = new Set<string>();
  const collect = (message: unknown): void => {
    Message.parse(message).fastify.addHook('onRoute', ({ method, url }) => {
      // Preflights, HEAD and the 405 of other methods accompany the routes of the service.
      if (typeof method === 'string' && !['HEAD', 'OPTIONS'].includes(method)) registered.add(`${method} ${url}`);
    });
  };
  beforeAll(async () => {
    subscribe(CHANNEL, collect);
    app = await startApp('api', { METRICS_TOKEN: 'm'.repeat(32), SECURITY_CONTACT: 'mailto:security@ledger.example' });
  });
  afterAll(async () => {
    unsubscribe(CHANNEL, collect);
    await app.stop();
  });

  it('are those of the table of operations, and each operation is a route', () => {
    const operations = ALL_OPERATIONS.map(({ method, path, isLastSlashed }) => {
      const ended = isLastSlashed === true ? path.replace(/\{\w+\}$/, '*') : path;
      return `${method.toUpperCase()} ${ended.replace(/\{(\w+)\}/g, ':$1')}`;
    });
    expect(new Set(operations).size).toBe(ALL_OPERATIONS.length);
    const others = OTHERS.map((path) => `GET ${path}`);
    expect([...registered].sort()).toEqual([...new Set([...operations, ...others])].sort());
  });

  it('have operation ids that are unique', () => {
    expect(new Set(ALL_OPERATIONS.map(({ id }) => id)).size).toBe(ALL_OPERATIONS.length);
  });
});
