import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConsentBatchResponse, ConsentResponse } from '../../../schemas/api/consents.js';
import { FullExportResponse } from '../../../schemas/api/export.js';
import { PersonTokenResponse } from '../../../schemas/api/person-tokens.js';
import { type StatusItem, StatusResponse } from '../../../schemas/api/status.js';
import { isConfiguration } from '../../../sdk/core/answers.js';
import { askedIn } from '../../../sdk/core/asked.js';
import { DEMO_CONFIG } from '../../../src/demo/seed/demo-texts.js';
import { createApiKey } from '../../../src/tenancy/api-keys/api-keys.js';
import { publishSiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { attachDocument } from '../../../src/tenancy/documents/attach-document.js';
import { createDocument } from '../../../src/tenancy/documents/documents.js';
import { createSite } from '../../../src/tenancy/sites/sites.js';
import { activeVersion } from '../../pipeline/admission/site-fixture.js';
import { signedHeaders } from '../../support/signed-requests.js';
import { turnAccountsOn } from '../../support/turn-accounts-on.js';
import { eventually } from '../../support/wait.js';
import { type Answer, ask, type RunningApp } from '../server/running-app.js';
import { Backend } from './export-fixture.js';

const SPACE = 'Example “group”';
const MINT = '/tool/v1/s2s/person-tokens';
const BROWSER = '/tool/v1/consents';
const S2S = '/tool/v1/s2s/consents';

interface Shop {
  readonly siteId: string;
  readonly key: string;
  readonly backend: Backend;
  /** Active version of a cookie policy, and of a document that no other shop has. */
  readonly policy: string;
  readonly own: string;
}

type Fields = Readonly<Record<string, unknown>>;

const invalid = { status: 422, body: { code: 'PERSON_TOKEN_INVALID' } };
const conflict = { status: 422, body: { code: 'PERSON_TOKEN_CONFLICT' } };
const newPerson = (): string => `person-${randomUUID()}`;

/**
 * Attacks person tokens, and reads what they show, with keys of both kinds.
 * @param given the service and the backend of a tenant
 */
export function personTokenRules(given: () => { readonly app: RunningApp; readonly backend: Backend }): void {
  describe.each(['live', 'test'] as const)('person tokens of %s keys', (mode) => {
    let app: RunningApp;
    /** Two shops with one person space, one of the tenant without, and one of another tenant that names the space, too. */
    let shop: Shop;
    let sister: Shop;
    let apart: Shop;
    let stranger: Shop;
    beforeAll(async () => {
      app = given().app;
      const { backend } = given();
      const [own, foreign] = [backend.demo.site.id, await Backend.of(app)];
      shop = await open(backend, own);
      sister = await open(backend, await another(backend));
      apart = await open(backend, await another(backend));
      stranger = await open(foreign, foreign.demo.site.id);
      for (const { siteId } of [shop, sister, stranger]) await turnAccountsOn(app, siteId, SPACE);
      await eventually(async () => {
        for (const one of [shop, sister, stranger]) expect(await mint(one, newPerson())).toMatchObject({ status: 201 });
      });
    });

    /** A further site of the tenant, to which its cookie policy is attached. */
    const another = async ({ demo }: Backend): Promise<string> => {
      const { adminPool } = app.service.installation;
      const domain = `${randomUUID()}.example`;
      const names = { tenantId: demo.tenant_id, name: 'Further', domain, isVerified: true };
      const { id } = await createSite(adminPool, { ...names, allowedOrigins: [], allowedIps: [] });
      await publishSiteConfig(adminPool, id, DEMO_CONFIG);
      const policy = demo.documents.find(({ kind }) => kind === 'cookie_policy');
      await attachDocument(adminPool, demo.site.id, policy?.id ?? '', id);
      return id;
    };
    const open = async (backend: Backend, siteId: string): Promise<Shop> => {
      const { adminPool } = app.service.installation;
      const terms = { siteId, slug: `terms-${randomUUID()}`, kind: 'terms', requiresApprovalToken: false } as const;
      const { id } = await createDocument(adminPool, terms);
      const own = await activeVersion(adminPool, siteId, id, 'en');
      const { rows } = await app.superuser.query(
        `select v.id from document_versions v join documents d on d.id = v.document_id
          where v.site_id = $1 and v.state = 'active' and v.language = 'en' and d.kind = 'cookie_policy'`,
        [siteId],
      );
      const [{ id: policy }] = z.tuple([z.object({ id: z.string() })]).parse(rows);
      const { key } = await createApiKey(adminPool, siteId, 'write', { mode, restriction: null });
      return { siteId, key, backend, policy, own };
    };
    const post = ({ key, backend }: Shop, path: string, content: object): Promise<Answer> => {
      const body = JSON.stringify(content);
      const headers = { ...signedHeaders(key, path, body), ...(path.includes('s2s') && backend.bearer) };
      return ask(app.url + path, { method: 'POST', headers, body });
    };
    const mint = (at: Shop, person: unknown): Promise<Answer> => post(at, MINT, { person });
    const minted = async (at: Shop, person: string) => {
      const answer = await mint(at, person);
      expect(answer.status, JSON.stringify(answer.body)).toBe(201);
      return PersonTokenResponse.parse(answer.body).data;
    };
    const tokenOf = async (at: Shop, person: string): Promise<string> => (await minted(at, person)).person_token;
    const consent = (at: Shop, fields: Fields = {}): Fields => ({
      ...{ consent_type: 'cookie', decision: 'rejected', document_version_id: at.policy },
      ...fields,
    });
    const send = (at: Shop, fields: Fields, path = BROWSER): Promise<Answer> => post(at, path, consent(at, fields));
    const recorded = async (at: Shop, fields: Fields, path = BROWSER) => {
      const answer = await send(at, fields, path);
      expect(answer.status, JSON.stringify(answer.body)).toBe(202);
      return ConsentResponse.parse(answer.body).data;
    };
    const records = async ({ key, backend }: Shop, person: string) => {
      const headers = { 'x-api-key': key, ...backend.bearer };
      const { body } = await ask(`${app.url}/tool/v1/s2s/consents/export?visitor_id=${person}`, { headers });
      return FullExportResponse.parse(body).data;
    };
    const status = ({ key }: Shop, person: string, token?: string): Promise<Answer> =>
      ask(`${app.url}/tool/v1/consents/status?visitor_id=${person}`, {
        headers: { 'x-api-key': key, ...(token !== undefined && { 'x-person-token': token }) },
      });
    const shown = async (at: Shop, person: string, token?: string): Promise<readonly StatusItem[]> => {
      const answer = await status(at, person, token);
      expect(answer.status, JSON.stringify(answer.body)).toBe(200);
      return StatusResponse.parse(answer.body).data.consents;
    };
    const tokensIn = (items: readonly StatusItem[]) => items.map(({ consent_token: token }) => token);
    /** Moves the end of a token into the past, under a seal of the service. */
    const expire = (id: string): Promise<void> => {
      const table = mode === 'live' ? 'approval_tokens' : 'test_approval_tokens';
      return app.change(`update ${table} set expires_at = now() - interval '1 second' where id = $1`, [id]);
    };

    it('name the site and the person for 15 minutes', async () => {
      const token = await minted(shop, newPerson());
      expect(token).toMatchObject({
        person_token: expect.stringMatching(mode === 'live' ? /^hpt_[\w-]{43}$/ : /^hpt_test_[\w-]{43}$/),
        person_token_id: expect.stringMatching(mode === 'live' ? /^ptk_(?!test_)/ : /^ptk_test_/),
        expires_in: 900,
      });
      for (const person of ['', 'p'.repeat(101), null, 7])
        expect(await mint(shop, person)).toMatchObject({ status: 422, body: { errors: [{ field: 'person' }] } });
      expect(await mint(apart, newPerson())).toMatchObject({ status: 409, body: { code: 'ACCOUNTS_OFF' } });
    });

    it('vouch for the person of one record of the account', async () => {
      const person = newPerson();
      const { person_token, person_token_id } = await minted(shop, person);
      const { consent_token, warnings } = await recorded(shop, { person_token, scope: 'account' });
      expect(warnings).toBeUndefined();
      const [found, ...others] = await eventually(async () => {
        const all = await records(shop, person);
        expect(all).toHaveLength(1);
        return all;
      });
      expect(others).toEqual([]);
      expect(found).toMatchObject({
        ...{ consent_token, scope: 'account', channel: 'browser', visitor_id: person },
        ...{ identity_assurance: 'tenant_attested', approval_token_id: person_token_id, vouched: ['visitor_id'] },
      });
      expect(JSON.stringify(found)).not.toContain(person_token);
      expect(await send(shop, { person_token })).toMatchObject(conflict);
    });

    it.each<[string, () => Promise<Fields>, object]>([
      ['that was guessed', async () => ({ person_token: `hpt_${'A'.repeat(43)}` }), invalid],
      ['of another form', async () => ({ person_token: 'nonsense' }), invalid],
      ['without a character', async () => ({ person_token: '' }), invalid],
      ['that is its id', async () => ({ person_token: (await minted(shop, newPerson())).person_token_id }), invalid],
      ['of a site of the same space', async () => ({ person_token: await tokenOf(sister, newPerson()) }), invalid],
      ['of another tenant', async () => ({ person_token: await tokenOf(stranger, newPerson()) }), invalid],
      [
        'that is used for another person',
        async () => ({ person_token: await tokenOf(shop, newPerson()), visitor_id: newPerson() }),
        conflict,
      ],
      [
        'of 201 characters',
        async () => ({ person_token: 'x'.repeat(201) }),
        { status: 422, body: { code: 'VALIDATION_ERROR', errors: [{ field: 'person_token' }] } },
      ],
      [
        'beside an approval token',
        async () => ({ person_token: await tokenOf(shop, newPerson()), approval_token: 'hat_1' }),
        { status: 422, body: { code: 'VALIDATION_ERROR', errors: [{ field: 'person_token' }] } },
      ],
    ])('refuse one %s', async (_, fields, expected) => {
      const sent = await fields();
      expect(await send(shop, sent)).toMatchObject(expected);
      expect(await send(shop, sent, S2S)).toMatchObject(expected);
    });

    it('are no approval tokens, and the other way round', async () => {
      const version = shop.backend.version('consent_form');
      const person = newPerson();
      const asked = { document_version_id: version, subject: person };
      const answer = await post(shop, '/tool/v1/s2s/approval-tokens', asked);
      const approval = z.object({ data: z.object({ approval_token: z.string() }) }).parse(answer.body)
        .data.approval_token;
      const token = await tokenOf(shop, person);
      const approve = (fields: Fields) =>
        send(shop, { consent_type: 'document_approval', document_version_id: version, ...fields });
      expect(await send(shop, { person_token: approval })).toMatchObject(invalid);
      expect(await status(shop, person, approval)).toMatchObject(invalid);
      expect(await approve({ approval_token: token })).toMatchObject({ body: { code: 'APPROVAL_TOKEN_INVALID' } });
      expect(await approve({ person_token: token })).toMatchObject({ body: { code: 'APPROVAL_TOKEN_REQUIRED' } });
      // Neither was used up.
      expect(await approve({ approval_token: approval })).toMatchObject({ status: 202 });
      await recorded(shop, { person_token: token });
    });

    it('are refused once they have expired, for recording and for reading', async () => {
      const person = newPerson();
      const { person_token, person_token_id } = await minted(shop, person);
      await shown(shop, person, person_token);
      await expire(person_token_id);
      expect(await send(shop, { person_token })).toMatchObject(invalid);
      expect(await status(shop, person, person_token)).toMatchObject(invalid);
    });

    it('make one record of ten at once, and of two in a batch', async () => {
      const person_token = await tokenOf(shop, newPerson());
      const answers = await Promise.all(Array.from({ length: 10 }, () => send(shop, { person_token })));
      expect(answers.filter((answer) => answer.status === 202)).toHaveLength(1);
      for (const answer of answers) if (answer.status !== 202) expect(answer).toMatchObject(conflict);
      const twice = consent(shop, { person_token: await tokenOf(shop, newPerson()) });
      const { body } = await post(shop, `${BROWSER}/batch`, { consents: [twice, twice, consent(shop)] });
      expect(ConsentBatchResponse.parse(body).data.results).toMatchObject([
        { status: 'accepted' },
        { status: 'rejected', error_code: 'PERSON_TOKEN_CONFLICT' },
        { status: 'accepted' },
      ]);
    });

    it('repeat the answer that was lost, with the same token or another of the person', async () => {
      const person = newPerson();
      const idempotency_key = randomUUID();
      const [first, second] = [await tokenOf(shop, person), await tokenOf(shop, person)];
      const { consent_token } = await recorded(shop, { idempotency_key, person_token: first });
      const repeated = async (fields: Fields) => {
        const { headers, body } = await send(shop, { idempotency_key, ...fields });
        expect(body).toMatchObject({ data: { consent_token, duplicate: true } });
        return headers.get('idempotency-mismatch');
      };
      expect(await repeated({ person_token: first })).toBeNull();
      expect(await repeated({ person_token: second })).toBeNull();
      expect(await repeated({ person_token: await tokenOf(shop, newPerson()) })).toBe('true');
      expect(await repeated({})).toBe('true');
      expect(await repeated({ person_token: second, scope: 'device' })).toBe('true');
      // The retry did not use it up.
      await recorded(shop, { person_token: second });
    });

    it.each<[scope: string, warned: string | null, string, string, (at: Shop, person: string) => Promise<Fields>]>([
      ['account', null, 'a token', BROWSER, async (at, person) => ({ person_token: await tokenOf(at, person) })],
      [
        ...(['device', null, 'a token and the scope of the device', BROWSER] as const),
        async (at, person) => ({ scope: 'device', person_token: await tokenOf(at, person) }),
      ],
      [
        'device',
        'person_token',
        'a browser’s claim',
        BROWSER,
        async (_, visitor_id) => ({ scope: 'account', visitor_id }),
      ],
      ['account', null, 'a backend’s statement', S2S, async (_, visitor_id) => ({ scope: 'account', visitor_id })],
      ['device', null, 'a backend that states no scope', S2S, async (_, visitor_id) => ({ visitor_id })],
      [
        'account',
        null,
        'a backend with a token',
        S2S,
        async (at, person) => ({ person_token: await tokenOf(at, person) }),
      ],
    ])('record as a choice of the %s, with a warning of %s, %s', async (scope, warned, _, path, fields) => {
      const person = newPerson();
      const { consent_token, warnings } = await recorded(shop, await fields(shop, person), path);
      expect(warnings ?? null).toEqual(
        warned && [{ field: 'scope', message: expect.stringContaining(`needs a ${warned}`) }],
      );
      const [item] = await eventually(async () => {
        const items = await shown(shop, person);
        expect(items).toHaveLength(1);
        return items;
      });
      expect(item).toMatchObject({ consent_token, scope });
      expect(Object.keys(item ?? {})).not.toEqual(expect.arrayContaining(['asked']));
      const ofAccount = await shown(shop, person, await tokenOf(shop, person));
      expect(tokensIn(ofAccount)).toEqual(scope === 'account' ? [consent_token] : []);
    });

    it('are needed for a choice of the account by a backend that names nobody, or where accounts are off', async () => {
      for (const [at, fields, words] of [
        [shop, {}, 'needs visitor_id or person_token'],
        [apart, { visitor_id: newPerson() }, 'where the configuration in force has accounts'],
      ] as const) {
        const { warnings } = await recorded(at, { scope: 'account', ...fields }, S2S);
        expect(warnings).toEqual([{ field: 'scope', message: expect.stringContaining(words) }]);
      }
      expect(await send(shop, { scope: 'everyone' })).toMatchObject({
        status: 422,
        body: { errors: [{ field: 'scope' }] },
      });
    });

    it('read nothing of another person, and nothing once they are unknown', async () => {
      const person = newPerson();
      const token = await tokenOf(shop, person);
      expect(await status(shop, newPerson(), token)).toMatchObject(conflict);
      for (const wrong of [`${token}x`, 'nonsense', '', await tokenOf(sister, person), await tokenOf(stranger, person)])
        expect(await status(shop, person, wrong), wrong).toMatchObject(invalid);
    });

    it('read the account on the sites of the space: there what this site asks too, and every opt-out', async () => {
      const person = newPerson();
      const here = await recorded(shop, { person_token: await tokenOf(shop, person) });
      const there = async (at: Shop, fields: Fields) =>
        (await recorded(at, { scope: 'account', visitor_id: person, ...fields }, S2S)).consent_token;
      await recorded(shop, { visitor_id: person });
      const shared = await there(sister, {});
      const other = await there(sister, { consent_type: 'terms', document_version_id: sister.own });
      const optOut = (at: Shop) =>
        there(at, { consent_type: 'do_not_sell_opt_out', decision: 'accepted', document_version_id: at.own });
      const optedOut = await optOut(sister);
      // What a browser claims, what counts nowhere, and another tenant's space of the same name.
      await recorded(sister, { scope: 'account', visitor_id: person });
      await optOut(apart);
      await optOut(stranger);
      const used = await tokenOf(shop, person);
      const last = await recorded(shop, { person_token: used });
      const items = await eventually(async () => {
        const found = await shown(shop, person, used);
        expect(tokensIn(found)).toEqual([last.consent_token, optedOut, shared, here.consent_token]);
        return found;
      });
      const config = await ask(`${app.url}/tool/v1/config`, { headers: { 'x-api-key': shop.key } });
      const { data } = z.object({ data: z.unknown() }).parse(config.body);
      const asked = isConfiguration(data) ? askedIn(data) : null;
      for (const item of items) expect(item).toMatchObject({ scope: 'account', asked, exempt: [] });
      expect(items[0]?.ask_again_at).not.toBeNull();
      expect(tokensIn(await shown(sister, person, await tokenOf(sister, person)))).toEqual([
        ...[last.consent_token, optedOut, other, shared, here.consent_token],
      ]);
      // A page's key alone shows the records of its own site.
      const atSister = await shown(sister, person);
      expect(atSister).toHaveLength(4);
      expect(tokensIn(atSister)).not.toEqual(expect.arrayContaining([here.consent_token]));
      expect(await shown(apart, person)).toHaveLength(1);
    });

    it('end with the erasure of the person, as the choices of the account do', async () => {
      const person = newPerson();
      const [used, unused] = [await tokenOf(shop, person), await tokenOf(shop, person)];
      await recorded(shop, { person_token: used });
      await eventually(async () => expect(await shown(shop, person, used)).toHaveLength(1));
      const order = { subject: { by: 'visitor_id', value: person }, idempotency_key: randomUUID() };
      expect(await post(shop, '/tool/v1/s2s/erasures', order)).toMatchObject({ status: 202 });
      await eventually(async () => {
        for (const token of [used, unused]) expect(await status(shop, person, token)).toMatchObject(invalid);
      });
      expect(await send(shop, { person_token: unused })).toMatchObject(invalid);
      expect(await shown(shop, person, await tokenOf(shop, person))).toEqual([]);
    });
  });
}
