import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type RunningApp, startApp } from '../server/running-app.js';
import { type NamedUrl, urlsNamedBy } from './link-checker.js';

const PUBLIC = 'https://consent.example.org';
const ENTRANCES = [
  '/.well-known/api-catalog',
  '/.well-known/ai-catalog.json',
  '/.well-known/agent-skills/index.json',
  '/.well-known/security.txt',
  '/llms.txt',
];

describe.each([[PUBLIC], [undefined]])('with PUBLIC_URL %s', (publicUrl) => {
  let app: RunningApp;
  beforeAll(async () => {
    app = await startApp('serve', {
      SECURITY_CONTACT: 'mailto:security@example.org',
      ...(publicUrl && { PUBLIC_URL: publicUrl }),
    });
    await app.seed();
  });
  afterAll(() => app.stop());

  it('every URL that a document names answers 200, with the type that the document says', async () => {
    await expect.poll(async () => (await fetch(`${app.url}/checkpoints/ledger.vkey`)).status).toBe(200);
    await expect.poll(async () => await (await fetch(`${app.url}/checkpoints/`)).text()).toContain('/note');
    const waiting: NamedUrl[] = ENTRANCES.map((path) => ({ url: (publicUrl ?? '') + path, type: null }));
    const seen = new Set<string>();
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      // A document may name this service, and nothing else.
      expect(next.url.startsWith(`${publicUrl ?? ''}/`) || next.url.startsWith('/'), next.url).toBe(true);
      const path = next.url.slice(next.url.startsWith('/') ? 0 : PUBLIC.length);
      const response = await fetch(app.url + path, { redirect: 'manual' });
      const text = await response.text();
      expect(response.status, path).toBe(200);
      const [type] = (response.headers.get('content-type') ?? '').split(';');
      if (next.type !== null) expect(type, path).toBe(next.type);
      if (seen.has(path)) continue;
      seen.add(path);
      waiting.push(...urlsNamedBy(path, response, text));
    }
    for (const path of ['/tool/v1/', '/api/v1/', '/openapi.yaml', '/openapi/tool-api.json', '/.well-known/jwks.json']) {
      expect([...seen]).toContain(path);
    }
    expect([...seen].filter((path) => path.endsWith('/SKILL.md'))).toHaveLength(6);
    expect([...seen]).toContain('/docs/examples/react-next/app/withdrawal.jsx');
    expect([...seen].some((path) => /^\/checkpoints\/\d+\/tokens\/\d$/.test(path))).toBe(true);
  });

  it('redirects the old place of security.txt', async () => {
    const response = await fetch(`${app.url}/security.txt`, { redirect: 'manual' });
    expect([response.status, response.headers.get('location')]).toEqual([301, '/.well-known/security.txt']);
  });
});
