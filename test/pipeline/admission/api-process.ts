import { type KeyObject, randomBytes, randomUUID } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type pg from 'pg';
import { pino } from 'pino';
import { createAccessTokens, freshJwtKeys } from '../../../src/accounts/sign-in/access-tokens.js';
import { createUserDirectory } from '../../../src/accounts/users/user-directory.js';
import { createLoadGate } from '../../../src/api/guards/load-gate.js';
import { createRateLimiter } from '../../../src/api/guards/rate-limiter.js';
import { requestSignature } from '../../../src/api/guards/signature.js';
import { createToolGuards } from '../../../src/api/guards/tool-guard.js';
import { createApp } from '../../../src/api/server/app.js';
import { largeBatchTurns, RECORDING_OPERATIONS } from '../../../src/api/tool/recording.js';
import { serveTool } from '../../../src/api/tool/serve-tool.js';
import { type Admission, createAdmission } from '../../../src/pipeline/admission/admission.js';
import { certifiedPromiseKey, createPromises } from '../../../src/pipeline/admission/promises.js';
import type { GroupLimits } from '../../../src/pipeline/admission/submit.js';
import { createOutboxGauge } from '../../../src/pipeline/admission/watches.js';
import { withTransaction } from '../../../src/platform/database/pool.js';
import { createKeyring, createRandomPool, type Keyring } from '../../../src/platform/keys/index.js';
import { createKeyUsage } from '../../../src/tenancy/api-keys/key-usage.js';
import type { SiteDirectory } from '../../../src/tenancy/directory/site-context.js';
import { createSiteDirectory } from '../../../src/tenancy/directory/site-directory.js';
import { UNGUARDED } from '../../support/unguarded.js';

/**
 * The admission part of one API process. It shares only the database and the master key with
 * another one.
 */
export interface ApiProcess {
  readonly app: FastifyInstance;
  readonly admission: Admission;
  readonly directory: SiteDirectory;
  readonly keyring: Keyring;
  readonly accessToken: (userId: string) => Promise<string>;
  close(): Promise<void>;
}

export interface ApiProcessOptions {
  readonly outboxLimit?: number;
  readonly limits?: GroupLimits;
  readonly clock?: () => number;
  /** Fails in place of signing promises. */
  readonly signingFails?: boolean;
}

export const ORIGIN = 'ledger.example/test';
export const SEAL_WITHIN_SECONDS = 600;

/** @param keyPool in the role of the worker, which creates keys */
export async function startApiProcess(
  db: pg.Pool,
  keyPool: pg.Pool,
  master: KeyObject,
  options: ApiProcessOptions = {},
): Promise<ApiProcess> {
  const { clock = Date.now } = options;
  const keyring = await createKeyring(keyPool, master);
  const directory = createSiteDirectory(db, keyring);
  const tokens = createAccessTokens(freshJwtKeys(keyring));
  const promiseKey = await certifiedPromiseKey({ keyring, origin: ORIGIN, guard: UNGUARDED });
  const admission = createAdmission({
    db,
    promises: createPromises({
      origin: ORIGIN,
      sealWithinSeconds: SEAL_WITHIN_SECONDS,
      key: () => {
        if (options.signingFails === true) throw new Error('no key');
        return promiseKey;
      },
    }),
    directory,
    seals: keyring,
    random: createRandomPool(),
    clock,
    outbox: createOutboxGauge({
      db,
      limit: options.outboxLimit ?? 1_000_000,
      everyMs: 20,
      monotonic: () => performance.now(),
    }),
    onError: () => undefined,
    onUnsigned: () => undefined,
    ...(options.limits === undefined ? {} : { limits: options.limits }),
  });
  const rateLimiter = createRateLimiter({ db, hashKey: await keyring.throttleKey() });
  const guards = createToolGuards({
    directory,
    rateLimiter,
    apiUsers: { tokens, users: createUserDirectory(db, keyring) },
    keyUsage: createKeyUsage(db, Date.now),
    invalidKeyLimit: 30,
  });
  // The limits of admission itself are what the tests of this process are about.
  const gate = createLoadGate({ maxInProgress: 1_000_000, isFull: () => false, onRefused: () => undefined });
  const deps = { admission, rateLimiter, largeBatches: largeBatchTurns(() => performance.now()) };
  const app = createApp({ log: pino({ level: 'silent' }), trustedProxies: [] }, [
    async (scope) => {
      await scope.register(
        async (tool) => serveTool(tool, RECORDING_OPERATIONS, deps, { guards, gate, scanner: null, clock }),
        {
          prefix: '/tool/v1',
        },
      );
    },
  ]);
  await app.ready();
  return {
    app,
    admission,
    directory,
    keyring,
    accessToken: async (userId) => {
      const signInId = randomUUID();
      await withTransaction(db, async (db) => {
        await db.query(
          `insert into sign_ins (id, user_id, refresh_digest, expires_at, lapses_at)
         values ($1, $2, $3, now() + interval '1 hour', now() + interval '1 hour')`,
          [signInId, userId, randomBytes(32)],
        );
        await keyring.sealing.beforeCommit(db);
      });
      return tokens.issue({ userId, signInId }, Math.floor(Date.now() / 1000));
    },
    close: async () => {
      await app.close();
      await admission.drain();
    },
  };
}

export interface PostOptions {
  readonly nonce?: string;
  readonly bearer?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Seconds by which X-Timestamp is ahead. */
  readonly ahead?: number;
  /** Address of the client. */
  readonly remoteAddress?: string;
}

export interface PostAnswer {
  readonly status: number;
  readonly body: unknown;
  readonly headers: Readonly<Record<string, unknown>>;
}

/**
 * Sends a signed request.
 * @param body an object, or the exact text to send
 */
export async function post(
  { app }: Pick<ApiProcess, 'app'>,
  apiKey: string,
  path: string,
  body: unknown,
  { nonce = randomUUID(), bearer, headers = {}, ahead = 0, remoteAddress = '127.0.0.1' }: PostOptions = {},
): Promise<PostAnswer> {
  const payload = Buffer.isBuffer(body) ? body : Buffer.from(typeof body === 'string' ? body : JSON.stringify(body));
  const timestamp = String(Math.floor(Date.now() / 1000) + ahead);
  const response = await app.inject({
    method: 'POST',
    url: path,
    payload,
    remoteAddress,
    headers: {
      'content-type': 'application/json',
      'x-api-key': apiKey,
      'x-timestamp': timestamp,
      'x-nonce': nonce,
      'x-signature': requestSignature(apiKey, { method: 'POST', path, timestamp, nonce, body: payload }),
      ...(bearer === undefined ? {} : { authorization: `Bearer ${bearer}` }),
      ...headers,
    },
  });
  return { status: response.statusCode, body: response.json(), headers: response.headers };
}

export const newKey = (): string => `k-${randomBytes(8).toString('hex')}`;
