import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import * as z from 'zod';
import { TokensResponse } from '../../../schemas/api/auth.js';
import type { Role } from '../../../src/accounts/users/user-directory.js';
import { createUser } from '../../../src/accounts/users/users.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { type Answer, ask, type RunningApp } from '../server/running-app.js';
import { type Accepted, Backend } from '../tool/export-fixture.js';

/** A tenant whose backend records consents, with users of the panel. */
export class RecordingTenant {
  readonly #tokens = new Map<string, string>();

  private constructor(
    readonly app: RunningApp,
    readonly backend: Backend,
  ) {}

  static async of(app: RunningApp): Promise<RecordingTenant> {
    const tenant = new RecordingTenant(app, await Backend.of(app));
    const roles = ['owner', 'admin', 'dpo', 'viewer'] as const;
    await Promise.all(roles.map((role) => tenant.#makeUser(role)));
    return tenant;
  }

  get siteId(): string {
    return this.backend.demo.site.id;
  }

  /** Below this tenant's site. */
  inSite(role: Role, method: string, path: string, body?: unknown): Promise<Answer> {
    return this.as(role, method, `/sites/${this.siteId}${path}`, body);
  }

  /** Below /api/v1. */
  as(role: Role, method: string, path: string, body?: unknown): Promise<Answer> {
    return ask(`${this.app.url}/api/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${this.#tokens.get(role)}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
  }

  /** A signed S2S request of the backend. */
  post(path: string, content: unknown): Promise<Answer> {
    const body = JSON.stringify(content);
    const headers = { ...signedHeaders(this.backend.demo.keys.write, path, body), ...this.backend.bearer };
    return ask(this.app.url + path, { method: 'POST', headers, body });
  }

  get(path: string): Promise<Answer> {
    return ask(this.app.url + path, {
      headers: { 'x-api-key': this.backend.demo.keys.read, ...this.backend.bearer },
    });
  }

  /** Records a consent, and waits until the panel shows it. */
  async record(fields: object = {}): Promise<Accepted & { readonly id: string }> {
    const accepted = await this.backend.record({ idempotency_key: randomUUID(), ...fields });
    const hex = accepted.consent_token.slice(3);
    const id = [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-');
    for (;;) {
      const { status } = await this.inSite('viewer', 'GET', `/consents/${id}`);
      if (status === 200) return { ...accepted, id };
      if (status !== 404) throw new Error(`a new record is answered with ${status}`);
      await sleep(200);
    }
  }

  /** Asks for something until it is as expected. */
  async until<T>(schema: z.ZodType<T>, path: string, isReached: (data: T) => boolean): Promise<T> {
    const Body = z.object({ data: schema });
    for (;;) {
      const { data } = Body.parse((await this.inSite('owner', 'GET', path)).body);
      if (isReached(data)) return data;
      await sleep(200);
    }
  }

  async #makeUser(role: 'owner' | 'admin' | 'dpo' | 'viewer'): Promise<void> {
    const login = { email: `${role}-${randomUUID()}@tenant.example`, password: randomUUID() };
    await createUser(this.app.service.installation.adminPool, {
      tenantId: this.backend.demo.tenant_id,
      ...login,
      role,
    });
    const answer = await ask(`${this.app.url}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(login),
    });
    this.#tokens.set(role, TokensResponse.parse(answer.body).data.access_token);
  }
}
