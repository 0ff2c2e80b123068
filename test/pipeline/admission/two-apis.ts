import { randomUUID } from 'node:crypto';
import * as z from 'zod';
import { createUser } from '../../../src/accounts/users/users.js';
import { type ApiProcess, type PostAnswer, startApiProcess } from './api-process.js';
import { type AdmissionDatabase, openAdmissionDatabase } from './database.js';
import type { SiteFixture } from './site-fixture.js';

export const SINGLE = '/tool/v1/consents';
export const BATCH = '/tool/v1/consents/batch';

/** Two API processes on one database. */
export interface TwoApis {
  readonly database: AdmissionDatabase;
  readonly apis: readonly [ApiProcess, ApiProcess];
  /** Returns the first process for even numbers, the second for odd ones. */
  either(i: number): ApiProcess;
  /** Returns a bearer token of a new `api_user` of the site's tenant. */
  bearerOf(site: SiteFixture): Promise<string>;
  /** Returns the number of rows of a table that belong to a site. */
  count(table: string, siteId: string): Promise<number>;
  consentEvents(siteId: string): Promise<number>;
  /** Returns the used part of the tenant's quota. */
  used(site: SiteFixture): Promise<number>;
  close(): Promise<void>;
}

export async function openTwoApis(): Promise<TwoApis> {
  const database = await openAdmissionDatabase();
  const { master } = database;
  const apis = [
    await startApiProcess(database.db, database.worker, master),
    await startApiProcess(database.secondPool, database.worker, master),
  ] as const;
  const numberOf = async (sql: string, value: string): Promise<number> =>
    Number((await database.owner.query(sql, [value])).rows[0].number);
  return {
    database,
    apis,
    either: (i) => apis[i % 2 === 0 ? 0 : 1],
    bearerOf: async ({ tenantId }) => {
      const { id } = await createUser(database.owner, {
        tenantId,
        email: `${randomUUID()}@example.com`,
        password: 'a long enough password',
        role: 'api_user',
      });
      return apis[0].accessToken(id);
    },
    count: (table, siteId) => numberOf(`select count(*) as number from ${table} where site_id = $1`, siteId),
    consentEvents: (siteId) =>
      numberOf('select count(*) as number from event_log.stored_events where stream = $1', `consents-${siteId}`),
    used: ({ tenantId }) =>
      numberOf('select coalesce(sum(used), 0) as number from consent_usage where tenant_id = $1', tenantId),
    close: async () => {
      for (const api of apis) await api.close();
      await database.close();
    },
  };
}

export function cookie(site: SiteFixture, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { consent_type: 'cookie', decision: 'accepted', document_version_id: site.versions.cookieEn, ...more };
}

export function times<T>(count: number, work: (i: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: count }, (_, i) => work(i)));
}

export function statuses(answers: readonly PostAnswer[]): number[] {
  return answers.map(({ status }) => status).sort();
}

const ErrorBody = z.object({ code: z.string() });

/** Returns the error codes of the refused responses. */
export function codes(answers: readonly PostAnswer[]): string[] {
  return answers.filter(({ status }) => status !== 202).map(({ body }) => ErrorBody.parse(body).code);
}
