import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import * as z from 'zod';
import { type ExportedConsent, ExportedConsent as ExportedConsentSchema } from '../../../schemas/api/export.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { postSigned, signedHeaders } from '../../support/signed-requests.js';
import { type Answer, ask, type RunningApp } from '../server/running-app.js';

export const EXPORT = '/tool/v1/s2s/consents/export';
export const ERASURES = '/tool/v1/s2s/erasures';

const Tokens = z.object({ data: z.object({ access_token: z.string() }) });
const Accepted = z.object({
  data: z.object({ consent_token: z.string(), proof_hash: z.string(), created_at: z.string() }),
});
export type Accepted = z.infer<typeof Accepted>['data'];
const ErrorAnswer = z.object({ errors: z.array(z.object({ field: z.string() })) });

/** A tenant's backend: it records consents by either channel, and reads its export. */
export class Backend {
  #token = '';

  private constructor(
    readonly app: RunningApp,
    readonly demo: SeededDemo,
  ) {}

  static async of(app: RunningApp): Promise<Backend> {
    const backend = new Backend(app, await app.seed());
    const answer = await ask(`${app.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(backend.demo.api_user),
    });
    backend.#token = Tokens.parse(answer.body).data.access_token;
    return backend;
  }

  /** The active version of a kind of document, in English. */
  version(kind: 'cookie_policy' | 'consent_form'): string {
    const document = this.demo.documents.find((one) => one.kind === kind);
    const version = document?.versions.find(({ state, language }) => state === 'active' && language === 'en');
    if (version === undefined) throw new Error(`the demonstration has no active ${kind}`);
    return version.id;
  }

  get bearer(): Record<string, string> {
    return { authorization: `Bearer ${this.#token}` };
  }

  async record(fields: object = {}): Promise<Accepted> {
    return this.#post('/tool/v1/s2s/consents', fields, this.bearer);
  }

  async recordInBrowser(fields: object = {}): Promise<Accepted> {
    return this.#post('/tool/v1/consents', fields, {});
  }

  async mint(fields: object): Promise<{ approval_token: string; approval_token_id: string }> {
    const path = '/tool/v1/s2s/approval-tokens';
    const body = JSON.stringify(fields);
    const headers = { ...signedHeaders(this.demo.keys.write, path, body), ...this.bearer };
    const answer = await ask(this.app.url + path, { method: 'POST', headers, body });
    expect(answer.status, JSON.stringify(answer.body)).toBeLessThan(300);
    return z
      .object({ data: z.object({ approval_token: z.string(), approval_token_id: z.string() }) })
      .parse(answer.body).data;
  }

  async recordMany(count: number, fields: object): Promise<void> {
    for (let done = 0; done < count; done += 100) {
      const consents = Array.from({ length: Math.min(100, count - done) }, () => this.#consent(fields));
      const answer = await postSigned(this.app.url, this.demo.keys.write, '/tool/v1/consents/batch', { consents });
      const text = await answer.text();
      if (answer.status !== 202) throw new Error(`a batch was answered with ${answer.status}: ${text}`);
    }
  }

  /** Orders the erasure of a person, as an operator of the shop would. */
  async erase(visitor: string): Promise<void> {
    const body = JSON.stringify({ subject: { by: 'visitor_id', value: visitor }, idempotency_key: randomUUID() });
    const headers = { ...signedHeaders(this.demo.keys.write, ERASURES, body), ...this.bearer };
    const answer = await ask(this.app.url + ERASURES, { method: 'POST', headers, body });
    if (answer.status !== 202) throw new Error(`an erasure was answered with ${answer.status}`);
  }

  export(query = '', headers: Record<string, string> = {}): Promise<Response> {
    return fetch(`${this.app.url}${EXPORT}${query}`, {
      headers: { 'x-api-key': this.demo.keys.read, ...this.bearer, ...headers },
    });
  }

  /** An export that must succeed, each record held against its schema. */
  async page(query = ''): Promise<{ data: ExportedConsent[]; next_cursor: string | null }> {
    const answer = await this.export(query);
    if (answer.status !== 200) throw new Error(`the export was answered with ${answer.status}: ${await answer.text()}`);
    return z
      .strictObject({ data: z.array(z.strictObject(ExportedConsentSchema.shape)), next_cursor: z.string().nullable() })
      .parse(await answer.json());
  }

  /** The fields that an export with a wrong query complains about. */
  async wrongFields(query: string): Promise<string[]> {
    const answer = await this.export(query);
    if (answer.status !== 422) throw new Error(`the export was answered with ${answer.status}`);
    return ErrorAnswer.parse(await answer.json()).errors.map(({ field }) => field);
  }

  async #post(path: string, fields: object, headers: Record<string, string>): Promise<Accepted> {
    const body = JSON.stringify(this.#consent(fields));
    const answer: Answer = await ask(this.app.url + path, {
      method: 'POST',
      headers: { ...signedHeaders(this.demo.keys.write, path, body), ...headers },
      body,
    });
    if (answer.status !== 202) throw new Error(`a consent was answered with ${answer.status}`);
    return Accepted.parse(answer.body).data;
  }

  #consent(fields: object): object {
    const version = this.version('cookie_policy');
    return { consent_type: 'cookie', decision: 'accepted', document_version_id: version, ...fields };
  }
}
