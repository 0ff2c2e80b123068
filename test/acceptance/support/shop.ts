import { randomUUID } from 'node:crypto';
import { expect } from 'vitest';
import * as z from 'zod';
import { type MintedToken, minted } from './answers.js';
import type { Answer, HttpClient } from './http.js';
import type { Seed } from './seed.js';
import { type SigningOptions, signatureHeaders } from './signing.js';

export interface GetOptions {
  readonly key?: string;
  /** Take the place of, or with undefined away, those that are sent otherwise. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  readonly from?: string;
}

export interface PostOptions extends GetOptions, SigningOptions {
  /** The exact body; else the content as JSON. */
  readonly body?: Uint8Array | string;
}

/** Response to a login or a refresh. */
export const TokensAnswer = z.object({ data: z.object({ access_token: z.string(), refresh_token: z.string() }) });
export type Tokens = z.infer<typeof TokensAnswer>['data'];

/** How long a bearer token is used, in milliseconds: it may hold for 15 minutes only, and a run may take longer. */
const BEARER_USE_MS = 10 * 60_000;

/** A seeded tenant and what its clients do. */
export class Shop {
  #bearer: { readonly token: Promise<string>; readonly since: number } | null = null;

  constructor(
    readonly http: HttpClient,
    readonly seed: Seed,
  ) {}

  get readKey(): string {
    return this.seed.keys.read;
  }

  get writeKey(): string {
    return this.seed.keys.write;
  }

  /** A GET of the Tool API, with the read key. */
  get(path: string, { key = this.readKey, headers, from }: GetOptions = {}): Promise<Answer> {
    return this.http.send({ method: 'GET', path, headers: { 'x-api-key': key, ...headers }, from });
  }

  /** A signed POST of the Tool API, with the write key. */
  post(path: string, content: unknown, options: PostOptions = {}): Promise<Answer> {
    const key = options.key ?? this.writeKey;
    const body = options.body ?? JSON.stringify(content);
    const headers = {
      'content-type': 'application/json',
      'x-api-key': key,
      ...signatureHeaders(key, path, body, options),
      ...options.headers,
    };
    return this.http.send({ method: 'POST', path, headers, body, from: options.from });
  }

  /** A signed POST with the API user's bearer token. */
  async postS2s(path: string, content: unknown, options: PostOptions = {}): Promise<Answer> {
    const headers = { authorization: `Bearer ${await this.bearer()}`, ...options.headers };
    return this.post(path, content, { ...options, headers });
  }

  async getS2s(path: string, options: GetOptions = {}): Promise<Answer> {
    const headers = { authorization: `Bearer ${await this.bearer()}`, ...options.headers };
    return this.get(path, { ...options, headers });
  }

  /** A POST without any credential of the Tool API. */
  postOpen(path: string, content: unknown, options: GetOptions = {}): Promise<Answer> {
    const headers = { 'content-type': 'application/json', ...options.headers };
    return this.http.send({ method: 'POST', path, headers, body: JSON.stringify(content), from: options.from });
  }

  consent(content: unknown, options?: PostOptions): Promise<Answer> {
    return this.post('/tool/v1/consents', content, options);
  }

  batch(consents: readonly unknown[], options?: PostOptions): Promise<Answer> {
    return this.post('/tool/v1/consents/batch', { consents }, options);
  }

  s2sConsent(content: unknown, options?: PostOptions): Promise<Answer> {
    return this.postS2s('/tool/v1/s2s/consents', content, options);
  }

  mint(request: Readonly<Record<string, unknown>> = {}, options?: PostOptions): Promise<Answer> {
    return this.postS2s(
      '/tool/v1/s2s/approval-tokens',
      { document_slug: this.approvalDocument.slug, subject: 'acceptance', ...request },
      options,
    );
  }

  async minted(request: Readonly<Record<string, unknown>> = {}): Promise<MintedToken> {
    return minted(await this.mint(request));
  }

  async signIn(user: { readonly email: string; readonly password: string }): Promise<Tokens> {
    const answer = await this.postOpen('/api/v1/auth/login', user);
    expect(answer.status, answer.text).toBe(200);
    return TokensAnswer.parse(answer.json).data;
  }

  /** A bearer token of the API user. */
  bearer(): Promise<string> {
    const now = performance.now();
    if (this.#bearer === null || now - this.#bearer.since > BEARER_USE_MS) {
      const token = this.signIn(this.seed.api_user).then((tokens) => tokens.access_token);
      this.#bearer = { token, since: now };
    }
    return this.#bearer.token;
  }

  /** The body of a cookie consent that has nothing wrong. */
  cookieConsent(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    const version = this.version(this.cookieDocument);
    return { consent_type: 'cookie', decision: 'accepted', document_version_id: version, ...fields };
  }

  /** The body of a document approval; it needs an approval token. */
  approval(fields: Readonly<Record<string, unknown>> = {}): Record<string, unknown> {
    const version = this.version(this.approvalDocument);
    return { consent_type: 'document_approval', decision: 'accepted', document_version_id: version, ...fields };
  }

  get cookieDocument(): Seed['documents'][number] {
    return this.#document((document) => document.kind === 'cookie_policy');
  }

  get approvalDocument(): Seed['documents'][number] {
    return this.#document((document) => document.requires_approval_token);
  }

  /** @returns id of a version of the document */
  version(
    document: Seed['documents'][number],
    language = 'en',
    state: Seed['documents'][number]['versions'][number]['state'] = 'active',
  ): string {
    const version = document.versions.find((one) => one.language === language && one.state === state);
    if (version === undefined) throw new Error(`the seed has no ${state} version in ${language} of ${document.slug}`);
    return version.id;
  }

  #document(fits: (document: Seed['documents'][number]) => boolean): Seed['documents'][number] {
    const document = this.seed.documents.find(fits);
    if (document === undefined) throw new Error('the seed lacks a document that the suite needs');
    return document;
  }
}

/** A new reference for a person. */
export function newVisitor(): string {
  return `visitor-${randomUUID()}`;
}

/** A new idempotency key. */
export function newKey(): string {
  return `key-${randomUUID()}`;
}
