import { createHash } from 'node:crypto';
import { beforeAll, describe, expect, test } from 'vitest';
import * as z from 'zod';
import { accepted, at, expectError } from '../support/answers.js';
import type { Answer } from '../support/http.js';
import type { Shop } from '../support/shop.js';
import type { World } from '../support/world.js';

const LANGUAGES = ['en', 'tr'] as const;

const Documents = z.object({
  data: z.looseObject({
    documents: z.array(z.looseObject({ slug: z.string(), version: z.looseObject({ id: z.string() }) })),
  }),
});

/** @returns the version id of each document, by slug */
function versionsOf(answer: Answer): Record<string, string> {
  expect(answer.status, answer.text).toBe(200);
  const { documents } = Documents.parse(answer.json).data;
  return Object.fromEntries(documents.map(({ slug, version }) => [slug, version.id]));
}

function expectedVersions(shop: Shop, language: string): Record<string, string> {
  return Object.fromEntries(shop.seed.documents.map((document) => [document.slug, shop.version(document, language)]));
}

/** Specification, Endpoints (config, documents); Resources, Other resources. */
export function documentRules(world: World): void {
  describe('Configuration and documents', () => {
    let shop: Shop;
    beforeAll(async () => {
      shop = await world.shop();
    });
    const config = (query = '', headers = {}): Promise<Answer> => shop.get(`/tool/v1/config${query}`, { headers });

    for (const language of LANGUAGES) {
      test(`config?language=${language} names the active version of every document in that language`, async () => {
        expect(versionsOf(await config(`?language=${language}`))).toEqual(expectedVersions(shop, language));
      });
      test(`documents/active?language=${language} names them as well`, async () => {
        const answer = await shop.get(`/tool/v1/documents/active?language=${language}`);
        expect(versionsOf(answer)).toEqual(expectedVersions(shop, language));
      });
      test(`documents/{slug}/active?language=${language} has slug, version id, language and content`, async () => {
        for (const document of shop.seed.documents) {
          const answer = await shop.get(`/tool/v1/documents/${document.slug}/active?language=${language}`);
          expect(answer.status, answer.text).toBe(200);
          expect(at(answer.json, 'data', 'slug')).toBe(document.slug);
          expect(at(answer.json, 'data', 'version', 'id')).toBe(shop.version(document, language));
          expect(at(answer.json, 'data', 'language')).toBe(language);
          expect(at(answer.json, 'data', 'content')).toMatch(/\S/);
        }
      });
      test(`A version id of config?language=${language} is good for a consent`, async () => {
        const { [shop.cookieDocument.slug]: document_version_id } = versionsOf(await config(`?language=${language}`));
        accepted(await shop.consent(shop.cookieConsent({ document_version_id, language })));
      });
    }
    test('The content is in the language that was asked for', async () => {
      const contents = await Promise.all(
        LANGUAGES.map((language) =>
          shop.get(`/tool/v1/documents/${shop.cookieDocument.slug}/active?language=${language}`),
        ),
      );
      expect(new Set(contents.map(({ json }) => at(json, 'data', 'content'))).size).toBe(2);
    });
    for (const [title, header, language] of [
      ['one language', 'tr', 'tr'],
      ['a region of a language', 'tr-TR', 'tr'],
      ['the best by its weight', 'en;q=0.5, tr;q=0.9', 'tr'],
      ['an unknown language before a known one', 'fi, tr;q=0.3', 'tr'],
    ] as const) {
      test(`Without language, Accept-Language decides: ${title} (${header})`, async () => {
        expect(versionsOf(await config('', { 'accept-language': header }))).toEqual(expectedVersions(shop, language));
      });
    }
    test('language in the query has the last word over Accept-Language', async () => {
      const answer = await config('?language=en', { 'accept-language': 'tr' });
      expect(versionsOf(answer)).toEqual(expectedVersions(shop, 'en'));
    });
    test('A language that the site does not have: the site’s own one is answered', async () => {
      expect(versionsOf(await config('?language=fi'))).toEqual(expectedVersions(shop, 'en'));
    });
    test('No version of the answers is a retired one', async () => {
      const retired = shop.seed.documents.flatMap(({ versions }) =>
        versions.filter(({ state }) => state === 'retired'),
      );
      const { text } = await config();
      for (const { id } of retired) expect(text).not.toContain(id);
    });
    test('config has the categories of the banner', async () => {
      const { text } = await config();
      for (const category of shop.seed.categories) expect(text).toContain(JSON.stringify(category));
    });
    test('config has a detected region', async () => {
      expect(at((await config()).json, 'data', 'region')).toBeDefined();
    });
    test('ping answers pong with the site, the key’s scope and the time', async () => {
      for (const [scope, key] of Object.entries(shop.seed.keys)) {
        const { json } = await shop.get('/tool/v1/ping', { key });
        expect(json).toMatchObject({ message: 'pong', data: { site_id: shop.seed.site.id, scope } });
        expect(Math.abs(Date.parse(String(at(json, 'data', 'time'))) - Date.now())).toBeLessThan(60_000);
      }
    });
    test('content_sha256 of a version is the SHA-256 of its content', async () => {
      const { json } = await shop.get(`/tool/v1/documents/${shop.cookieDocument.slug}/active?language=tr`);
      const sha256 = createHash('sha256')
        .update(String(at(json, 'data', 'content')))
        .digest('hex');
      expect(at(json, 'data', 'version', 'content_sha256')).toBe(sha256);
    });
    test('An unknown slug: 404 DOCUMENT_NOT_FOUND', async () => {
      expectError(await shop.get('/tool/v1/documents/no-such-document/active'), 404, 'DOCUMENT_NOT_FOUND');
    });
    for (const slug of ['%00', '%F0%9F%8D%AA', 'x'.repeat(300), '..%2F..%2Fetc%2Fpasswd', 'A_B']) {
      test(`A slug “${slug.slice(0, 24)}” that is none: 404 DOCUMENT_NOT_FOUND`, async () => {
        expectError(await shop.get(`/tool/v1/documents/${slug}/active`), 404, 'DOCUMENT_NOT_FOUND');
      });
    }
    test('A language that is no language tag: the default language, with a warning', async () => {
      const { status, json } = await config(`?language=${'x'.repeat(300)}`);
      expect(status).toBe(200);
      expect(at(json, 'data', 'warnings')).toEqual([expect.objectContaining({ field: 'language' })]);
      expect(at(json, 'data', 'language')).toBe(at(json, 'data', 'default_language'));
    });
  });
}
