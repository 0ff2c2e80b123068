import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as z from 'zod';
import { ConsentBatchResponse, ConsentResponse } from '../../../schemas/api/consents.js';
import {
  ConsentRecord,
  ConsentRecordedBody,
  ConsentRecordV2,
  eventIdOfConsentToken,
} from '../../../schemas/events/consent-recorded.js';
import { readConsentBody } from '../../../schemas/evidence/consent-body.js';
import { publishSiteConfig } from '../../../src/tenancy/configuration/publish-site-config.js';
import { type ApiProcess, post, startApiProcess } from './api-process.js';
import { type AdmissionDatabase, openAdmissionDatabase } from './database.js';
import { createSiteFixture, type SiteFixture, siteConfig } from './site-fixture.js';

const OBJECTION = { consent_type: 'objection', decision: 'rejected', categories: { analytics: false } };

/** Words that look like another period. */
const DECEIVING = { title: 'Cookies', validity_days: '"validity_days":9999' };

describe('acts and their periods', () => {
  let database: AdmissionDatabase;
  let api: ApiProcess;
  let site: SiteFixture;

  beforeAll(async () => {
    database = await openAdmissionDatabase();
    api = await startApiProcess(database.db, database.worker, database.master);
    // A shorter period than before is in force.
    site = await createSiteFixture(database.owner, { validityDays: 400 });
    await publishSiteConfig(database.owner, site.siteId, siteConfig(90));
  });
  afterAll(async () => {
    await api?.close();
    await database?.close();
  });

  const send = (body: Record<string, unknown>, at = site) =>
    post(api, at.writeKey, '/tool/v1/consents', { document_version_id: at.versions.cookieEn, ...body });

  async function readBack(consentToken: string): Promise<ConsentRecordV2> {
    const { rows } = await database.owner.query('select data from event_log.stored_events where id = $1', [
      eventIdOfConsentToken(consentToken),
    ]);
    const [{ data }] = z.tuple([z.object({ data: z.instanceof(Buffer) })]).parse(rows);
    const record = ConsentRecord.parse(JSON.parse(ConsentRecordedBody.parse(JSON.parse(data.toString())).record));
    // The fast reader recognises what admission writes.
    expect(readConsentBody(data)?.record).toEqual(record);
    return ConsentRecordV2.parse(record);
  }

  async function recorded(body: Record<string, unknown>, at = site) {
    const answer = await send(body, at);
    expect(answer).toMatchObject({ status: 202 });
    const { data } = ConsentResponse.parse(answer.body);
    return { record: await readBack(data.consent_token), warnings: data.warnings };
  }

  /** Days from the record to one of its times. */
  const daysTo = ({ created_at: start }: ConsentRecordV2, end: string | null | undefined): number | null =>
    end == null ? null : (Date.parse(end) - Date.parse(start)) / 86_400_000;

  it.each([
    ['cookie', 'accepted', 90, null],
    ['cookie', 'partial', 400, null],
    ['cookie', 'rejected', 400, 180],
    ['cookie', 'withdrawn', 400, 180],
    ['newsletter', 'rejected', 400, 180],
    ['do_not_sell_opt_out', 'accepted', null, null],
    ['do_not_sell_opt_out', 'withdrawn', null, null],
  ])('records %s, %s, for %s days, and asks again after %s', async (consent_type, decision, validity, refusal) => {
    const { record } = await recorded({ consent_type, decision });
    expect([daysTo(record, record.valid_until), daysTo(record, record.ask_again_at)]).toEqual([validity, refusal]);
    expect(record).toMatchObject({ v: 2, rule_id: null });
  });

  it('asks again after the validity if that is longer, and never where consent never ends', async () => {
    const long = await createSiteFixture(database.owner, { validityDays: 365 });
    const { record } = await recorded({ consent_type: 'cookie', decision: 'rejected' }, long);
    expect(daysTo(record, record.ask_again_at)).toBe(365);
    await publishSiteConfig(database.owner, long.siteId, siteConfig(null));
    await api.directory.refresh(long.siteId);
    const { record: lasting } = await recorded({ consent_type: 'cookie', decision: 'rejected' }, long);
    expect([lasting.valid_until, lasting.ask_again_at]).toEqual([null, null]);
    // A period that never ended was published: no later refusal ends.
    await publishSiteConfig(database.owner, long.siteId, siteConfig(30));
    await api.directory.refresh(long.siteId);
    const { record: later } = await recorded({ consent_type: 'cookie', decision: 'rejected' }, long);
    expect([later.valid_until, daysTo(later, later.ask_again_at)]).toEqual([null, 180]);
    const { record: accepted } = await recorded({ consent_type: 'cookie', decision: 'accepted' }, long);
    expect(daysTo(accepted, accepted.valid_until)).toBe(30);
  });

  it('records an objection and its end without a token, even to a document that requires one', async () => {
    for (const document_version_id of [site.versions.cookieEn, site.versions.form]) {
      const made = await recorded({ ...OBJECTION, document_version_id });
      expect(made.warnings).toBeUndefined();
      expect(made.record).toMatchObject({ ...OBJECTION, valid_until: null, ask_again_at: null, services: null });
      const ended = await recorded({ consent_type: 'objection', decision: 'withdrawn', document_version_id });
      expect(ended.record).toMatchObject({ decision: 'withdrawn', categories: null, valid_until: null });
    }
  });

  it.each([
    ['an accepted objection', { decision: 'accepted' }, 'VALIDATION_ERROR', 'decision'],
    ['a partial one', { decision: 'partial' }, 'VALIDATION_ERROR', 'decision'],
    ['one without categories', { categories: null }, 'VALIDATION_ERROR', 'categories'],
    ['one of no category', { categories: {} }, 'VALIDATION_ERROR', 'categories'],
    [
      'one that permits',
      { categories: { analytics: false, marketing: true } },
      'VALIDATION_ERROR',
      'categories.marketing',
    ],
    ['one that permits a service', { services: { maps: true } }, 'VALIDATION_ERROR', 'services.maps'],
    ['one of unknown categories', { categories: { unheard_of: false } }, 'INVALID_CATEGORIES', 'categories'],
    [
      'one of a required category',
      { categories: { necessary: false, analytics: false } },
      'INVALID_CATEGORIES',
      'categories.necessary',
    ],
    ['the end of one with categories', { decision: 'withdrawn' }, 'VALIDATION_ERROR', 'categories'],
  ])('refuses %s', async (_, change, code, field) => {
    const answer = await send({ ...OBJECTION, ...change });
    expect(answer).toMatchObject({ status: 422, body: { error_code: code, errors: [{ field }] } });
  });

  it('records the rule that the configuration in force has, and its own period of a refusal', async () => {
    const ruled = await createSiteFixture(database.owner, { validityDays: 365 });
    await publishSiteConfig(database.owner, ruled.siteId, {
      ...siteConfig(365),
      refusal_days: 90,
      banner: { en: DECEIVING, tr: DECEIVING },
      rules: [{ id: 'us', places: ['US-CO'], categories: { marketing: { rule: 'opt_out' } } }],
    });
    const answer = { consent_type: 'cookie', decision: 'rejected', rule_id: 'us' };
    const { record, warnings } = await recorded(answer, ruled);
    expect([record.rule_id, daysTo(record, record.ask_again_at), warnings]).toEqual(['us', 90, undefined]);
    expect(daysTo(record, record.valid_until)).toBe(365);
  });

  it('ignores a rule that the configuration in force does not have, in each consent of a batch', async () => {
    const consent = {
      consent_type: 'cookie',
      decision: 'accepted',
      document_version_id: site.versions.cookieEn,
      rule_id: 'elsewhere',
    };
    const answer = await post(api, site.writeKey, '/tool/v1/consents/batch', {
      consents: [consent, { ...consent, ...OBJECTION }],
    });
    const { data } = ConsentBatchResponse.parse(answer.body);
    expect(data.results.length).toBe(2);
    for (const result of data.results) {
      expect(result).toMatchObject({ status: 'accepted', warnings: [{ field: 'rule_id' }] });
      expect((await readBack('consent_token' in result ? result.consent_token : '')).rule_id).toBeNull();
    }
  });
});
