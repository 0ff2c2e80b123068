import { createHash } from 'node:crypto';
import { Validator } from '@seriousme/openapi-schema-validator';
import { importJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { agentSkills, agentSkillsIndex } from '../../../src/api/discovery/agent-skills.js';
import {
  aiCatalog,
  apiCatalog,
  apiLinks,
  llmsText,
  PANEL_API,
  TOOL_API,
} from '../../../src/api/discovery/api-catalog.js';
import { jwkSet, robotsText, securityText } from '../../../src/api/discovery/discovery-routes.js';
import { frontPage } from '../../../src/api/discovery/front-page.js';
import { scannerUrl, urlsUnder } from '../../../src/api/discovery/places.js';
import { panelDescription } from '../../../src/api/openapi/descriptions.js';
import { yamlText } from '../../../src/api/openapi/yaml-text.js';
import { newSigningKey, signingKeyOf } from '../../../src/platform/keys/signing-key.js';
import { parseSkill, SkillsIndex } from './formats/agent-skills.js';
import { AiCatalog } from './formats/ai-catalog.js';
import { ApiCatalog, Linkset } from './formats/linkset.js';
import { parseLlmsTxt } from './formats/llms-txt.js';
import { problemsOfSecurityTxt } from './formats/security-txt.js';

const PUBLIC = 'https://consent.example.org';

describe.each([[PUBLIC], [undefined]])('with PUBLIC_URL %s', (publicUrl) => {
  const urlOf = urlsUnder(publicUrl);
  const skills = agentSkills();

  it('the API catalog is a link set with API endpoints', () => {
    expect(ApiCatalog.safeParse(apiCatalog(urlOf, null)).error).toBeUndefined();
    for (const api of [TOOL_API, PANEL_API]) expect(Linkset.safeParse(apiLinks(api, urlOf)).error).toBeUndefined();
  });

  it('the API catalog and llms.txt name the public scanner', () => {
    const scanner = scannerUrl('scanner.example.org', publicUrl);
    expect(scanner).toBe(`${publicUrl === undefined ? '' : 'https:'}//scanner.example.org/tool/v1/`);
    const catalog = apiCatalog(urlOf, scanner);
    expect(ApiCatalog.safeParse(catalog).error).toBeUndefined();
    expect(catalog).toMatchObject({ linkset: expect.arrayContaining([expect.objectContaining({ anchor: scanner })]) });
    expect(llmsText(skills, urlOf, scanner)).toContain(`${scanner} serves GET \`ping\``);
    expect(scannerUrl(undefined, publicUrl)).toBeNull();
  });

  it('the AI catalog matches its schema', () => {
    const catalog = AiCatalog.parse(aiCatalog(skills, urlOf, publicUrl));
    expect(catalog.entries.map(({ identifier }) => identifier)).toEqual(
      skills.map(({ name }) =>
        publicUrl === undefined ? `consent-ledger:skill:${name}` : `urn:air:consent.example.org:skill:${name}`,
      ),
    );
  });

  it('the index of skills has the names, descriptions and digests of the skills', () => {
    const index = SkillsIndex.parse(agentSkillsIndex(skills, urlOf));
    expect(index.skills).toHaveLength(skills.length);
    for (const [i, entry] of index.skills.entries()) {
      const { text = '', path = '' } = skills[i] ?? {};
      const { frontmatter } = parseSkill(text);
      expect(entry).toMatchObject({ name: frontmatter.name, description: frontmatter.description });
      expect(path).toBe(`/.well-known/agent-skills/${entry.name}/SKILL.md`);
      expect(entry.digest).toBe(`sha256:${createHash('sha256').update(text).digest('hex')}`);
    }
  });

  it('llms.txt has the form that it should have', () => {
    const { title, links } = parseLlmsTxt(llmsText(skills, urlOf, null));
    expect(title).toBe('Consent Ledger');
    expect(new Set(links.map(({ url }) => url)).size).toBe(links.length);
    expect(links.every(({ url }) => url.startsWith(`${publicUrl ?? ''}/`))).toBe(true);
  });
});

it.each(['http://127.0.0.1:8080', 'http://[::1]:8080', 'http://localhost', 'http://ledger:8080'])(
  'at %s, which is no domain, the AI catalog has names of this installation only',
  (publicUrl) => {
    const catalog = AiCatalog.parse(aiCatalog(agentSkills(), urlsUnder(publicUrl), publicUrl));
    expect(catalog.host).toEqual({ displayName: 'Consent Ledger', documentationUrl: `${publicUrl}/llms.txt` });
    for (const { identifier } of catalog.entries) expect(identifier).toMatch(/^consent-ledger:skill:[a-z-]+$/);
  },
);

describe('security.txt', () => {
  const contacts = ['mailto:security@example.org', 'https://example.org/report', 'tel:+1-201-555-0123'];

  it('matches RFC 9116 on every day of the year, and expires two to three months ahead', () => {
    for (let day = 0; day < 366; day += 1) {
      const now = new Date(Date.UTC(2027, 0, 1 + day, 23, 59, 59, 999));
      const text = securityText(contacts, PUBLIC, now);
      expect(problemsOfSecurityTxt(text, now)).toEqual([]);
      const expires = Date.parse(/^Expires: (.*)$/m.exec(text)?.[1] ?? '');
      const days = (expires - now.getTime()) / 86_400_000;
      expect(days).toBeGreaterThan(55);
      expect(days).toBeLessThan(93);
    }
  });

  it('lists the contacts in their order, and is canonical under https only', () => {
    const now = new Date('2026-11-21T12:00:00Z');
    expect(securityText(contacts, PUBLIC, now)).toBe(
      'Contact: mailto:security@example.org\nContact: https://example.org/report\nContact: tel:+1-201-555-0123\n' +
        'Expires: 2027-02-01T00:00:00.000Z\nCanonical: https://consent.example.org/.well-known/security.txt\n',
    );
    for (const other of [undefined, 'http://consent.example.org']) {
      const text = securityText(contacts, other, now);
      expect(text).not.toContain('Canonical');
      expect(problemsOfSecurityTxt(text, now)).toEqual([]);
    }
  });

  it.each([
    ['no Contact', 'Expires: 2027-01-01T00:00:00Z\n'],
    ['not exactly one Expires', 'Contact: mailto:a@b.example\n'],
    ['not exactly one Expires', `Contact: mailto:a@b.example\n${'Expires: 2027-01-01T00:00:00Z\n'.repeat(2)}`],
    ['Expires is not a date-time', 'Contact: mailto:a@b.example\nExpires: 2027-01-01\n'],
    ['Expires is past, or more than a year ahead', 'Contact: mailto:a@b.example\nExpires: 2025-01-01T00:00:00Z\n'],
    ['contact is not a URI', 'Contact: a@b.example\nExpires: 2027-01-01T00:00:00Z\n'],
    ['contact is a web URI without https', 'Contact: http://b.example\nExpires: 2027-01-01T00:00:00Z\n'],
    [
      'not a field: Contact:mailto:a@b.example',
      'Contact: tel:+1\nContact:mailto:a@b.example\nExpires: 2027-01-01T00:00:00Z\n',
    ],
    ['the last line does not end', 'Contact: mailto:a@b.example\nExpires: 2027-01-01T00:00:00Z'],
  ])('the validator of this test notices: %s', (problem, text) => {
    expect(problemsOfSecurityTxt(text, new Date('2026-11-21T12:00:00Z'))).toEqual([problem]);
  });
});

describe('the JWK Set', () => {
  const makeKey = (keyId: string) => {
    const { secret, publicKey } = newSigningKey(keyId);
    return signingKeyOf({ keyId, ownerId: null, secret, publicKey, retiredAt: null });
  };

  it('holds every key, and of each the public members only', async () => {
    const keys = [makeKey('jwt-1'), makeKey('jwt-2')];
    const set = jwkSet(keys);
    expect(set).toEqual({
      keys: keys.map(({ keyId, publicKeyBytes }) => ({
        kty: 'OKP',
        crv: 'Ed25519',
        use: 'sig',
        alg: 'EdDSA',
        kid: keyId,
        x: publicKeyBytes.toString('base64url'),
      })),
    });
    for (const [i, key] of keys.entries()) {
      const { d } = key.privateKey.export({ format: 'jwk' });
      expect(JSON.stringify(set)).not.toContain(d);
      const jwk = Array.isArray(set.keys) ? set.keys[i] : undefined;
      expect(await importJWK(JSON.parse(JSON.stringify(jwk)))).toMatchObject({ type: 'public' });
    }
  });

  it('is empty where there is no key', () => {
    expect(jwkSet([])).toEqual({ keys: [] });
  });
});

describe('openapi.yaml', () => {
  const description = panelDescription();

  it('says the same to readers of YAML 1.1 and 1.2 as the description does', () => {
    const text = yamlText(description);
    expect(parse(text, { version: '1.2' })).toEqual(description);
    expect(parse(text, { version: '1.1' })).toEqual(description);
    expect(text).not.toMatch(/^\s*\S+: [&*]/m);
  });

  it('quotes what a strict reader of YAML 1.1 ends at a colon: plain scalars in flow collections', () => {
    // Microsoft.OpenApi read “line 633 … unexpected ':'” of such a URL.
    const flow = { list: ['https://shop.example', 'b'], url: 'https://shop.example' };
    expect(yamlText(flow)).toBe("{list: ['https://shop.example', b], url: 'https://shop.example'}\n");
    expect(yamlText(description)).not.toMatch(/[[{,] ?https?:/);
  });

  it('keeps strings that look like something else', () => {
    const ambiguous =
      'no|Yes|y|on|2026-11-21|1e3|0x1f|0o17|017|1_000|.5|.inf|.NaN|12:30:45|~|null|# x|a # b|a: b|- a|? a|&a|*a|!a|%a|@a|`a|[a|{a|a, b|"a|a\nb|a\n|| a |=|<<|---';
    const strings = Object.fromEntries(ambiguous.split('|').map((string, at) => [`a${at}`, string]));
    for (const version of ['1.1', '1.2'] as const) {
      expect(parse(yamlText({ ...strings, 200: 'x', on: 'y' }), { version })).toEqual({
        ...strings,
        200: 'x',
        on: 'y',
      });
    }
  });

  it('is a valid OpenAPI 3.1 description', async () => {
    const result = await new Validator().validate(yamlText(description));
    expect(result.errors).toBeUndefined();
    expect(result.valid).toBe(true);
  });
});

it('robots.txt has one group of rules, which opens everything but the insides of the APIs', () => {
  expect(robotsText()).toBe(
    'User-agent: *\nDisallow: /tool/v1/\nAllow: /tool/v1/$\nDisallow: /api/v1/\nAllow: /api/v1/$\nAllow: /\n',
  );
});

describe('the validators of this test', () => {
  it.each([
    ['another member', { linkset: [], more: 1 }],
    ['a target that is no array', { linkset: [{ anchor: 'https://a.example/', item: { href: '/b' } }] }],
    ['a target without href', { linkset: [{ anchor: 'https://a.example/', item: [{ title: 'b' }] }] }],
    ['an unknown relation', { linkset: [{ anchor: 'https://a.example/', 'service-description': [{ href: '/b' }] }] }],
    ['a relative path', { linkset: [{ anchor: 'tool', item: [{ href: '/b' }] }] }],
    ['an extension that is no array', { linkset: [{ item: [{ href: '/b', version: '1' }] }] }],
    ['no endpoints', { linkset: [{ anchor: '/a', 'service-doc': [{ href: '/b' }] }] }],
  ])('a link set is refused for: %s', (_, value) => {
    expect(ApiCatalog.safeParse(value).success).toBe(false);
  });

  it.each([
    ['# A\n\n> b\n\n## S\n\ntext\n'],
    ['A\n\n> b\n'],
    ['# A\n\n> b\n\n### c\n\n## S\n\n- [a](/b)\n'],
    ['# A\n\n> b\n\n## S\n\n- [a] (/b)\n'],
    ['# A\n\n> b\n\n## S\n'],
  ])('an llms.txt is refused: %j', (text) => {
    expect(() => parseLlmsTxt(text)).toThrow();
  });

  it('an AI catalog is refused without a type, and with a name twice', () => {
    const entry = { identifier: 'a', type: 't', url: '/a' };
    const catalog = (entries: object[]) => ({ specVersion: '1.0', host: { displayName: 'A' }, entries });
    expect(AiCatalog.safeParse(catalog([entry])).success).toBe(true);
    expect(AiCatalog.safeParse(catalog([entry, entry])).success).toBe(false);
    expect(AiCatalog.safeParse(catalog([{ identifier: 'a', url: '/a' }])).success).toBe(false);
    expect(AiCatalog.safeParse(catalog([{ ...entry, data: 1 }])).success).toBe(false);
  });
});

describe('the page at the root', () => {
  const pageOf = (isSignUpOpen: boolean): string =>
    frontPage(agentSkills(), { hasSecurityText: false, isSignUpOpen }).bytes.toString();

  it('has a door for each kind of reader, before what is for programs, and no script', () => {
    const [doors = '', list = ''] = pageOf(true).split('<details>');
    const linked = (html: string) => [...html.matchAll(/href="([^"]+)"/g)].map(([, path]) => path);
    expect(linked(doors)).toEqual([
      '/',
      '/verify',
      '/panel',
      '/panel/sign-up',
      '/docs/ten-minutes.md',
      '/docs/http-api.md',
    ]);
    expect(linked(list)).toContain('/.well-known/api-catalog');
    expect(doors + list).not.toContain('<script');
  });

  it('offers an account only where everyone can create one', () => {
    expect(pageOf(false)).not.toContain('sign-up');
  });
});
