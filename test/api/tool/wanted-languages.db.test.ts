import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import type { SeededDemo } from '../../../src/demo/seed/seed-demo.js';
import { postSigned } from '../../support/signed-requests.js';
import { get, type RunningApp, startApp } from '../server/running-app.js';

const Warnings = z.array(z.object({ field: z.string(), message: z.string() })).optional();
const Shown = z.object({
  data: z.object({
    language: z.string().optional(),
    documents: z.array(z.object({ language: z.string() })).optional(),
    warnings: Warnings,
  }),
});

describe('the language of what a page shows', () => {
  let app: RunningApp;
  let demo: SeededDemo;
  beforeAll(async () => {
    app = await startApp('api');
    demo = await app.seed();
  });
  afterAll(() => app.stop());

  const read = async (resource: string, language: string, accepted: string) => {
    const path = `/tool/v1/${resource}?language=${encodeURIComponent(language)}`;
    const answer = await get(app, path, demo.keys.read, { 'accept-language': accepted });
    expect(answer.status).toBe(200);
    const { data } = Shown.parse(answer.body);
    return { language: data.language ?? data.documents?.[0]?.language, warnings: data.warnings };
  };
  const resources = ['config', 'documents/active', 'documents/cookie-policy/active'];

  describe.each(resources)('%s', (resource) => {
    it.each([
      ['tr_TR', 'en', 'tr'],
      ['TR', 'en', 'tr'],
      ['tr-TR-u-nu-latn', 'en', 'tr'],
      ['en-GB', 'tr', 'en'],
      ['', 'tr', 'tr'],
      ['fr', 'tr-CY', 'tr'],
    ])('for %j and Accept-Language %s is in %s, without a warning', async (language, accepted, expected) => {
      expect(await read(resource, language, accepted)).toEqual({ language: expected, warnings: undefined });
    });

    it.each([
      ['x-default', 'tr;q=0.5', 'tr', /^"x-default" names no known language/],
      ['x-default', 'fr', 'en', /^"x-default" names no known language/],
      ['english', 'tr_TR', 'tr', /^"english" names no known language/],
      ['{{ lang }}', '*', 'en', /^"{{ lang }}" names no known language/],
      ['tr_TR.UTF-8', 'en', 'tr', /^"tr_TR\.UTF-8" was read as tr-TR\./],
      ['\0'.repeat(500), 'tr', 'tr', /^"(?:\\u0000){40}…" names no known language/],
    ])(
      'for %j and Accept-Language %s is in %s, and the answer names it',
      async (language, accepted, expected, told) => {
        const shown = await read(resource, language, accepted);
        expect(shown.language).toBe(expected);
        expect(shown.warnings).toEqual([{ field: 'language', message: expect.stringMatching(told) }]);
      },
    );
  });

  it('in a consent is that of the version: the same tag in any writing, and no other one', async () => {
    const statusOf = async (language: string) => {
      const version = demo.documents.find(({ kind }) => kind === 'cookie_policy')?.versions;
      const shown = version?.find((one) => one.language === 'tr' && one.state === 'active')?.id;
      const consent = { consent_type: 'cookie', decision: 'accepted', document_version_id: shown, language };
      return (await postSigned(app.url, demo.keys.write, '/tool/v1/consents', consent)).status;
    };
    expect(await statusOf('TR')).toBe(202);
    expect(await statusOf('tr_TR')).toBe(409);
    expect(await statusOf('x-default')).toBe(409);
  });
});
