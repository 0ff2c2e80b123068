import { createHash, createHmac, randomUUID } from 'node:crypto';
import * as z from 'zod';

const Accepted = z.object({
  consent_token: z.string(),
  proof_hash: z.string(),
  created_at: z.string(),
  duplicate: z.boolean(),
});
const Single = z.object({ data: Accepted });
const Batch = z.object({
  data: z.object({
    accepted: z.number(),
    rejected: z.number(),
    results: z.array(
      z.union([Accepted.extend({ status: z.literal('accepted') }), z.object({ status: z.literal('rejected') })]),
    ),
  }),
});
const Token = z.object({ data: z.object({ approval_token: z.string() }) });
const Login = z.object({ data: z.object({ access_token: z.string() }) });
const ActiveDocument = z.object({ data: z.object({ version: z.object({ id: z.string() }) }) });

/**
 * A Tool API client as a customer would write it: it signs every POST
 * (src/api/guards/signature.ts).
 */
export class SignedClient {
  constructor(
    private readonly baseUrl: string,
    private readonly keys: { readonly read: string; readonly write: string },
  ) {}

  /** Records a consent. @returns its consent token, in a list */
  async record(consent: object): Promise<string[]> {
    return [Single.parse(await this.#post('/tool/v1/consents', consent)).data.consent_token];
  }

  async recordBatch(consents: readonly object[]): Promise<string[]> {
    const { data } = Batch.parse(await this.#post('/tool/v1/consents/batch', { consents }));
    if (data.rejected > 0) throw new Error(`the service rejected ${data.rejected} consents of a submission batch`);
    return data.results.flatMap((result) => (result.status === 'accepted' ? [result.consent_token] : []));
  }

  async login(email: string, password: string): Promise<string> {
    const response = await fetch(`${this.baseUrl}/api/v1/auth/login`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email, password }),
    });
    return Login.parse(await answerOf(response)).data.access_token;
  }

  async approvalToken(bearer: string, request: object): Promise<string> {
    const answer = await this.#post('/tool/v1/s2s/approval-tokens', request, { authorization: `Bearer ${bearer}` });
    return Token.parse(answer).data.approval_token;
  }

  async activeVersion(slug: string, language: string): Promise<string> {
    const answer = await this.#get(`/tool/v1/documents/${slug}/active?language=${language}`);
    return ActiveDocument.parse(answer).data.version.id;
  }

  async isStamped(consentToken: string): Promise<boolean> {
    const response = await fetch(`${this.baseUrl}/tool/v1/consents/verify/${consentToken}`, {
      headers: { 'x-api-key': this.keys.read },
    });
    if (response.status === 404) return false;
    const Verified = z.object({ data: z.object({ is_tsa_stamped: z.boolean() }) });
    return Verified.parse(await answerOf(response)).data.is_tsa_stamped;
  }

  async #get(path: string): Promise<unknown> {
    return answerOf(await fetch(this.baseUrl + path, { headers: { 'x-api-key': this.keys.read } }));
  }

  async #post(path: string, content: object, headers: Record<string, string> = {}): Promise<unknown> {
    const body = JSON.stringify(content);
    const timestamp = String(Math.floor(Date.now() / 1000));
    const nonce = randomUUID();
    const bodyHash = createHash('sha256').update(body).digest('hex');
    const canonical = ['POST', path, timestamp, nonce, bodyHash].join('\n');
    const signature = createHmac('sha256', this.keys.write).update(canonical).digest('hex');
    const response = await fetch(this.baseUrl + path, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'x-api-key': this.keys.write,
        'x-timestamp': timestamp,
        'x-nonce': nonce,
        'x-signature': signature,
        ...headers,
      },
      body,
    });
    return answerOf(response);
  }
}

async function answerOf(response: Response): Promise<unknown> {
  const text = await response.text();
  if (!response.ok) throw new Error(`${new URL(response.url).pathname} answered ${response.status}: ${text}`);
  return JSON.parse(text);
}
