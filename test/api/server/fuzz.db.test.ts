import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ERROR_CODES } from '../../../schemas/api/error-codes.js';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { type RunningApp, startApp } from './running-app.js';

const RUNS = 60;
const Told = z.object({ code: z.string(), error_code: z.string(), error: z.object({ code: z.string() }) });
const Accepted = z.object({
  data: z.union([
    z.object({ accepted: z.int() }),
    z.object({ consent_token: z.string() }).transform(() => ({ accepted: 1 })),
  ]),
});

/**
 * Texts of JSON that a parser, a database or a hash may choke on; spliced into otherwise good
 * requests.
 */
const HOSTILE = [
  '"\\u0000"',
  '"\\ud800"',
  '1e400',
  '-1e400',
  '9007199254740993',
  '0.1234567890123456789012345',
  `${'['.repeat(200)}${']'.repeat(200)}`,
  '{"a":1,"a":2}',
  '{"__proto__":{"x":1}}',
  '{"constructor":null}',
  `"${'\u202e'.repeat(50)}"`,
  `"${'x'.repeat(70_000)}"`,
  '"\u001b[2J"',
  'null',
  '[]',
  '{}',
  'true',
  '1',
  'nul',
  '"',
  '',
];

describe('any JSON at any route', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  let version: string;

  beforeAll(async () => {
    app = await startApp('api');
    demo = await app.seed();
    const policy = demo.documents.find(({ kind }) => kind === 'cookie_policy');
    version = policy?.versions.find(({ state, language }) => state === 'active' && language === 'en')?.id ?? '';
  });
  afterAll(() => app?.stop());

  const good = (): Record<string, unknown> => ({
    consent_type: 'cookie',
    decision: 'accepted',
    document_version_id: version,
  });

  async function recorded(): Promise<number> {
    const { rows } = await app.superuser.query(
      "select count(*)::int as n from event_log.stored_events where site_id = $1 and type = 'ConsentRecorded.v1'",
      [demo.site.id],
    );
    return z.array(z.object({ n: z.int() })).parse(rows)[0]?.n ?? -1;
  }

  /**
   * Sends a signed body. @returns how many consents the answer says were accepted; the answer is a
   * documented one
   */
  async function send(path: string, body: string): Promise<number> {
    const response = await fetch(app.url + path, {
      method: 'POST',
      headers: signedHeaders(demo.keys.write, path, body),
      body,
    });
    const answer: unknown = JSON.parse(await response.text());
    if (response.status === 202) return Accepted.parse(answer).data.accepted;
    const { code, error_code, error } = Told.parse(answer);
    expect([error_code, error.code]).toEqual([code, code]);
    const known = Object.entries(ERROR_CODES).find(([name]) => name === code);
    expect(known?.[1].status, code).toBe(response.status);
    expect(response.status, code).toBeLessThan(500);
    return 0;
  }

  it.each(['/tool/v1/consents', '/tool/v1/consents/batch'])(
    '%s: a documented answer, and as many records as it says',
    async (path) => {
      const before = await recorded();
      let accepted = 0;
      await fc.assert(
        fc.asyncProperty(fc.json({ stringUnit: 'binary', maxDepth: 8 }), async (body) => {
          accepted += await send(path, body);
        }),
        { numRuns: RUNS },
      );
      expect(await recorded()).toBe(before + accepted);
    },
  );

  it('a field of any value is recorded whole, or refused with a reason', async () => {
    const fields = [
      'metadata',
      'extra_fields',
      'categories',
      'strokes_data',
      'visitor_id',
      'declaration_text',
      'language',
    ];
    const before = await recorded();
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...fields), fc.jsonValue({ stringUnit: 'binary' }), async (field, value) => {
        accepted += await send('/tool/v1/consents', JSON.stringify({ ...good(), [field]: value }));
      }),
      { numRuns: RUNS },
    );
    expect(await recorded()).toBe(before + accepted);
  });

  it('one hostile consent harms none of those that are admitted with it', async () => {
    const before = await recorded();
    const neighbours = HOSTILE.map(() => send('/tool/v1/consents', JSON.stringify(good())));
    const hostile = HOSTILE.map((text) => {
      const body = JSON.stringify({ ...good(), metadata: { a: 'SPLICE' } }).replace('"SPLICE"', text);
      return send('/tool/v1/consents', body);
    });
    const others = await Promise.all(neighbours);
    expect(others).toEqual(HOSTILE.map(() => 1));
    const admitted = (await Promise.all(hostile)).reduce((sum, n) => sum + n, 0);
    expect(await recorded()).toBe(before + others.length + admitted);
  });

  it.each(['/api/v1/auth/login', '/api/v1/auth/refresh', '/api/v1/public/consents/verify'])(
    '%s without credentials: a documented answer',
    async (path) => {
      await fc.assert(
        fc.asyncProperty(fc.oneof(fc.json({ stringUnit: 'binary' }), fc.constantFrom(...HOSTILE)), async (body) => {
          const response = await fetch(app.url + path, {
            method: 'POST',
            headers: { 'content-type': 'application/json' },
            body,
          });
          expect(response.status).toBeLessThan(500);
          const { code } = z.object({ code: z.string().optional() }).parse(JSON.parse(await response.text()));
          if (code !== undefined) expect(Object.keys(ERROR_CODES)).toContain(code);
        }),
        { numRuns: 25 },
      );
    },
  );

  it('query strings and path segments of any text: a documented answer', async () => {
    const paths = ['/tool/v1/consents/verify/', '/tool/v1/consents/status?visitor_id=', '/tool/v1/config?language='];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...paths), fc.string({ unit: 'binary', minLength: 1 }), async (path, text) => {
        const encoded = encodeURIComponent(text.toWellFormed());
        const response = await fetch(app.url + path + encoded, { headers: { 'x-api-key': demo.keys.read } });
        expect(response.status).toBeLessThan(500);
        await response.text();
      }),
      { numRuns: RUNS },
    );
  });
});
