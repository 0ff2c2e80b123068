import { createSecretKey } from 'node:crypto';
import { performance } from 'node:perf_hooks';
import { pino } from 'pino';
import * as z from 'zod';
import { createAccessTokens, freshJwtKeys } from '../src/accounts/sign-in/access-tokens.js';
import { createUserDirectory } from '../src/accounts/users/user-directory.js';
import { createLoadGate } from '../src/api/guards/load-gate.js';
import { createRateLimiter } from '../src/api/guards/rate-limiter.js';
import { checkSignature } from '../src/api/guards/signature.js';
import { createToolGuards } from '../src/api/guards/tool-guard.js';
import { createApp } from '../src/api/server/app.js';
import { largeBatchTurns, RECORDING_OPERATIONS } from '../src/api/tool/recording.js';
import { serveTool } from '../src/api/tool/serve-tool.js';
import { createAdmission } from '../src/pipeline/admission/admission.js';
import { certifiedPromiseKey, createPromises } from '../src/pipeline/admission/promises.js';
import { createOutboxGauge } from '../src/pipeline/admission/watches.js';
import { createPool } from '../src/platform/database/pool.js';
import { createKeyring, createRandomPool } from '../src/platform/keys/index.js';
import { createKeyUsage } from '../src/tenancy/api-keys/key-usage.js';
import { createSiteDirectory } from '../src/tenancy/directory/site-directory.js';
import type { ServiceUsage } from './messages.js';

// The API as in production, with one additional route: it checks the same signature of the same
// key, and echoes the body.
const Settings = z.object({
  databaseUrl: z.string(),
  masterKey: z.string().transform((text) => Buffer.from(text, 'base64')),
  writeKey: z.string(),
});
const { databaseUrl, masterKey, writeKey } = Settings.parse(JSON.parse(process.argv[2] ?? 'null'));

const ORIGIN = 'bench.example/ledger';
const poolOptions = {
  url: databaseUrl,
  applicationName: 'consent-ledger bench',
  maxConnections: 10,
  statementTimeoutMs: 30_000,
  onIdleError: (error: Error) => console.error(error),
};
const pool = createPool({ ...poolOptions, role: 'consent_ledger_api' });
const keyPool = createPool({ ...poolOptions, role: 'consent_ledger_worker' });
const keyring = await createKeyring(keyPool, createSecretKey(masterKey));
const directory = createSiteDirectory(pool, keyring);
const promiseKey = await certifiedPromiseKey({
  keyring,
  origin: ORIGIN,
  guard: { check: async () => undefined, compare: async () => undefined, checkAppend: async () => undefined },
});
const admission = createAdmission({
  db: pool,
  promises: createPromises({ origin: ORIGIN, sealWithinSeconds: 600, key: () => promiseKey }),
  directory,
  seals: keyring,
  random: createRandomPool(),
  clock: Date.now,
  outbox: createOutboxGauge({ db: pool, limit: 10_000_000, everyMs: 60_000, monotonic: () => performance.now() }),
  onError: (error) => console.error(error),
  onUnsigned: (error) => console.error(error),
});
const rateLimiter = createRateLimiter({ db: pool, hashKey: await keyring.throttleKey() });
const guards = createToolGuards({
  directory,
  rateLimiter,
  apiUsers: { tokens: createAccessTokens(freshJwtKeys(keyring)), users: createUserDirectory(pool, keyring) },
  keyUsage: createKeyUsage(pool, Date.now),
  invalidKeyLimit: 30,
});
const apiKey = await directory.findApiKey(writeKey);
if (apiKey === null) throw new Error('the API key of the benchmark is unknown');
const echoCaller = {
  apiKey,
  rawApiKey: writeKey,
  site: await directory.site(apiKey.siteId),
  channel: 'browser',
} as const;

const app = createApp({ log: pino({ level: 'silent' }), trustedProxies: [] }, [
  async (scope) => {
    await scope.register(
      async (tool) => {
        const deps = { admission, rateLimiter, largeBatches: largeBatchTurns(() => performance.now()) };
        serveTool(tool, RECORDING_OPERATIONS, deps, {
          guards,
          gate: createLoadGate({ maxInProgress: 1_000, isFull: () => false, onRefused: () => undefined }),
          scanner: null,
          clock: Date.now,
        });
        tool.post(
          '/echo',
          {
            onRequest: (request, _reply, done) => {
              request.caller = echoCaller;
              done();
            },
          },
          (request, reply) => {
            checkSignature(request, Date.now());
            reply.header('content-type', 'application/json').send(request.rawBody);
          },
        );
      },
      { prefix: '/tool/v1' },
    );
  },
]);
await app.listen({ port: 0, host: '127.0.0.1' });
const address = app.server.address();
if (address === null || typeof address === 'string') throw new Error('the service does not listen');

let cpu = process.cpuUsage();
let utilization = performance.eventLoopUtilization();
process.on('message', (message) => {
  if (message === 'stop') {
    void app
      .close()
      .then(() => Promise.all([pool.end(), keyPool.end()]))
      .then(() => process.disconnect());
    return;
  }
  const usedCpu = process.cpuUsage(cpu);
  const used = performance.eventLoopUtilization(utilization);
  cpu = process.cpuUsage();
  utilization = performance.eventLoopUtilization();
  process.send?.({
    cpuMs: (usedCpu.user + usedCpu.system) / 1000,
    eventLoopUtilization: used.utilization,
  } satisfies ServiceUsage);
});
// A failed benchmark must leave no process running.
process.on('disconnect', () => process.exit());
process.send?.(address.port);
