import { expect, test } from 'vitest';
import * as z from 'zod';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import type { Texts } from '../../verifier-cli/src/i18n/texts.js';
import { tr } from '../../verifier-cli/src/i18n/tr/index.js';
import { memorySource, RecordWatch, verifyPackage } from '../../verifier-cli/src/index.js';
import { ConsentList } from '../../verifier-cli/src/list/consent-list.js';
import { renderHtml } from '../../verifier-cli/src/rendering/markup.js';
import { certificateOf } from '../../verifier-cli/src/show/certificate.js';
import { recordPage } from '../../verifier-cli/src/show/record-page.js';
import { recordText } from '../../verifier-cli/src/show/record-text.js';
import type { ShownRecord } from '../../verifier-cli/src/show/shown-record.js';
import { fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { fixtureUuid } from '../support/ledger-fixture-events.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { FORGED_WITHDRAWAL, forgedErasure } from './forged-lines.js';
import { verifierKey } from './support.js';

const authority = fixtureAuthority();

async function shown(label: string, hooks: PackageHooks = {}, roots = [authority.root.der]): Promise<ShownRecord> {
  const watch = RecordWatch.of(fixtureUuid(label));
  const trust = { trustAnchors: roots, ledgerKeys: [verifierKey(LEDGER_KEY.verifierKey)] };
  await verifyPackage(
    memorySource(buildPackage(authority, hooks)),
    { ...trust, at: VERIFIED_AT },
    { watch, list: new ConsentList(100) },
  );
  if (!watch?.shown) throw new Error(`no record ${label}`);
  return watch.shown;
}

const linesOf = async (label: string): Promise<Record<string, string>> =>
  Object.fromEntries(certificateOf(await shown(label), en) ?? []);

test('states in words who decided what, on which text, and by when it existed', async () => {
  expect(await linesOf('c2')).toMatchObject({
    Decision: expect.stringMatching(/^rejected \(cookies/),
    By: 'visitor id visitor of c2',
    'Text shown': expect.stringMatching(/^Cookies, version 1, language tr, published on 1 March 2026/),
    Website: 'shop.example',
    'Existed by': '1 March 2026, 10:19 UTC',
    'Claimed time': '1 March 2026, 10:13 UTC',
    Afterwards: 'This package shows no erasure and no later record of the person.',
  });
});

test('names categories by the titles that the person saw, and by their keys without a proved title', async () => {
  const record = await shown('c2');
  const decisionOf = (configuration: ShownRecord['configuration']) =>
    Object.fromEntries(certificateOf({ ...record, configuration }, en) ?? []).Decision;
  const [category] = record.configuration?.categories ?? [];
  if (record.configuration == null || category === undefined) throw new Error('the fixture has no category');
  expect(decisionOf(record.configuration)).toBe('rejected (cookies: “Metin” yes)');
  expect(decisionOf({ ...record.configuration, categories: [{ ...category, title: { de: 'Statistik' } }] })).toBe(
    'rejected (cookies: analytics yes)',
  );
  expect(decisionOf(null)).toBe('rejected (cookies: analytics yes)');
});

test('shows times in the zone of the site beside UTC, and UTC alone without one that it knows', async () => {
  const record = await shown('c2');
  const timeOf = (zone: string | undefined, texts: Texts = en) => {
    const { configuration } = record;
    if (configuration === null) throw new Error('the fixture has no configuration');
    const zoned = zone === undefined ? configuration : { ...configuration, time_zone: zone };
    return Object.fromEntries(certificateOf({ ...record, configuration: zoned }, texts) ?? [])[texts.record.existedBy];
  };
  expect(timeOf('Europe/Istanbul')).toBe(
    '1 March 2026, 10:19 UTC (1 March 2026, 13:19 in Europe/Istanbul, UTC+03:00; UTC governs)',
  );
  expect(timeOf('Pacific/Kiritimati')).toContain('(2 March 2026, 00:19 in Pacific/Kiritimati, UTC+14:00;');
  expect(timeOf('America/St_Johns', tr)).toContain('(America/St_Johns saatiyle 1 Mart 2026, 06:49, UTC-03:30;');
  for (const zone of [undefined, 'Mars/Olympus', 'Europe/<b>']) expect(timeOf(zone)).toBe('1 March 2026, 10:19 UTC');
});

test('shows where the choice can be withdrawn as text, and says where none is stated', async () => {
  const record = await shown('c2');
  expect((await linesOf('c2'))[en.record.withdrawal]).toBe('not stated: ask the controller');
  const { configuration } = record;
  const stated = configuration && { ...configuration, withdrawal_url: 'https://shop.example/choices' };
  const page = renderHtml(recordPage({ ...record, configuration: stated }, tr));
  expect(page).toContain(`<dt>${tr.record.withdrawal}</dt><dd><bdi>https://shop.example/choices</bdi></dd>`);
  expect(page).not.toContain('href="https');
});

test('names the purpose of a consent without categories by its type and the title of its text', async () => {
  const record = await shown('c2');
  const stated = z.record(z.string(), z.json()).parse(record.record);
  const purposeOf = (categories: null | Record<string, boolean>, text: ShownRecord['text'], texts: Texts) =>
    new Map(certificateOf({ ...record, record: { ...stated, categories }, text }, texts) ?? []).get(
      texts.record.purpose,
    );
  expect(purposeOf(null, record.text, en)).toBe('cookies, by the text “Cookies”');
  expect(purposeOf({}, record.text, tr)).toBe('cookies, “Cookies” metnine göre');
  expect(purposeOf(null, null, en)).toBe('cookies');
  expect(purposeOf({ analytics: true }, record.text, en)).toBeUndefined();
});

test('names the values of the person in words, and one that it does not know as it is', async () => {
  const record = await shown('c2');
  const other = { ...record, disclosed: [...record.disclosed, { name: 'shoe_size', value: '38' }] };
  for (const [texts, label] of [
    [en, 'Visitor reference'],
    [tr, 'Ziyaretçi kimliği'],
  ] as const) {
    const page = renderHtml(recordPage(other, texts));
    expect(page).toContain(`<dt>${label}</dt>`);
    expect(page).toContain('<dt>shoe_size</dt>');
    expect(recordText(other, texts)).toContain(label);
  }
});

test.each([
  ['2026-03-01T10:19:00.000Z', 0, '1 March 2026, 10:19 UTC'],
  ['2026-03-01T10:19:00.000Z', 1, '1 March 2026, 10:20 UTC'],
  ['2026-03-01T10:19:46.000Z', 1000, '1 March 2026, 10:20 UTC'],
  ['2026-12-31T23:59:59.500Z', 0, '1 January 2027, 00:00 UTC'],
])('says of a time stamp of %s ± %i ms no earlier minute than is proved', async (time, accuracy_ms, words) => {
  const record = await shown('c2');
  const before = { time, accuracy_ms, checkpoint: 1 };
  const lines = new Map(certificateOf({ ...record, proved: { ...record.proved, before } }, en) ?? []);
  expect(lines.get(en.record.existedBy)).toBe(words);
});

test('calls a time not checked, and never not proved, if no root was given', async () => {
  const record = await shown('c2', {}, []);
  expect(record).toMatchObject({ verdict: 'indeterminate', root_given: false });
  for (const [texts, words] of [
    [en, ['not checked: no root certificate', 'not proved: no valid']],
    [tr, ['denetlenmedi: bir zaman', 'kanıtlanmadı: kaydı']],
  ] as const) {
    const lines = new Map(certificateOf(record, texts) ?? []);
    expect(lines.get(texts.record.existedBy)).toContain(words[0]);
    for (const text of [renderHtml(recordPage(record, texts)), recordText(record, texts)]) {
      expect(text).toContain(words[0]);
      expect(text).not.toContain(words[1]);
    }
  }
  expect(await shown('c2')).toMatchObject({ verdict: 'valid', root_given: true });
});

test('names the event and the proved time of an erasure', async () => {
  const record = await shown('c1');
  expect(record).toMatchObject({ erased: true, disclosed: [] });
  expect(record.erasure).toMatchObject({
    event_id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    reason: expect.stringMatching(/^(person|record|retention)$/),
    existed_by: { time: expect.stringMatching(/^2026-03-01T/) },
  });
  const { By: by, Afterwards: afterwards } = await linesOf('c1');
  expect(by).toBe('erased');
  expect(afterwards).toContain(`event ${record.erasure?.event_id}, proved to be announced by 1 March 2026`);
  expect(afterwards).toContain('The proof of the record stands.');
});

test('states purposes, ground, recipients and period as the sealed configuration has them', async () => {
  const lines = Object.fromEntries(certificateOf(await shown('c2'), en) ?? []);
  expect(lines['Purposes, as the site stated them']).toBe(
    '“Metin”: Metin Ground: consent. Recipients: none named. Data kept: 30 days.',
  );
});

test('names a later withdrawal of the same person', async () => {
  const record = await shown('c2');
  const next = {
    event_id: fixtureUuid('c6'),
    decision: 'withdrawn',
    verdict: 'valid' as const,
    claimed_at: '2026-03-02T09:10:11.000Z',
  };
  const lines = Object.fromEntries(certificateOf({ ...record, superseded_by: next }, en) ?? []);
  expect(lines.Afterwards).toBe(
    `Withdrawn by a later record of the person (${next.event_id}), made at 2 March 2026, 09:10 UTC as it states. Since then this consent permits nothing.`,
  );
  const open = { ...next, verdict: 'indeterminate' as const };
  const doubted = Object.fromEntries(certificateOf({ ...record, superseded_by: open }, en) ?? []);
  expect(doubted.Afterwards).toContain(`(${next.event_id}), which is not proved, made at`);
});

const RULES = [
  { id: 'gb', places: ['GB'], categories: { analytics: { rule: 'exempt', exception: 'own_statistics', ground: {} } } },
  { id: 'us', places: ['US-CO'], frameworks: ['ccpa'], categories: { analytics: { rule: 'opt_out' } } },
] as const satisfies NonNullable<ShownRecord['configuration']>['rules'];

/** The lines of a record that states its rule. */
async function linesOfAct(
  act: Record<string, z.core.util.JSONType>,
  texts: Texts = en,
  rest: Partial<ShownRecord> = {},
) {
  const record = await shown('c2');
  const stated = z.record(z.string(), z.json()).parse(record.record);
  const { configuration } = record;
  const changed = { ...stated, v: 2, services: null, ask_again_at: null, rule_id: null, scope: 'device', ...act };
  const shownAct = { ...record, record: changed, configuration: configuration && { ...configuration, rules: RULES } };
  return Object.fromEntries(certificateOf({ ...shownAct, ...rest }, texts) ?? []);
}

test('never shows an objection or an opt-out as a consent or a refusal', async () => {
  const objection = { consent_type: 'objection', decision: 'rejected', categories: { analytics: false } };
  const optOut = { consent_type: 'do_not_sell_opt_out', categories: null };
  const ended = { decision: 'withdrawn', categories: null };
  for (const [texts, words] of [
    [en, ['objected to “Metin”', 'objection taken back (objection)', 'opted out (', 'opt-out taken back (']],
    [
      tr,
      ['şunlara itiraz edildi: “Metin”', 'itiraz geri alındı (', 'verilerin satılmaması istendi', 'talebi geri alındı'],
    ],
  ] as const) {
    const acts = [objection, { ...objection, ...ended }, { ...optOut, decision: 'accepted' }, { ...optOut, ...ended }];
    for (const [index, act] of acts.entries())
      expect((await linesOfAct(act, texts))[texts.record.decision]).toContain(words[index]);
  }
  const next = { event_id: fixtureUuid('c6'), verdict: 'valid' as const, claimed_at: '2026-03-02T09:10:11.000Z' };
  const after = async (decision: string) =>
    (await linesOfAct(objection, en, { superseded_by: { ...next, decision } })).Afterwards;
  expect(await after('withdrawn')).toMatch(/^Taken back by a later record of the person/);
  expect(await after('rejected')).toContain('with the decision “objected”');
});

test('says in one sentence by which rule the person was asked, with the law of a state', async () => {
  const ruleOf = async (act: Record<string, z.core.util.JSONType>, texts?: Texts) =>
    (await linesOfAct(act, texts))[(texts ?? en).record.rule];
  expect(await ruleOf({ rule_id: 'us' })).toBe(
    'The page stated that it asked by the rule “us” of the site for US-CO, ccpa (Colorado Privacy Act, C.R.S. § 6-1-1301 ff.): “Metin” runs until the person opts out; everything else waits for consent.',
  );
  expect(await ruleOf({ rule_id: 'gb' }, tr)).toContain('“gb” kuralına göre sorduğunu bildirdi: “Metin” kişi itiraz');
  expect(await ruleOf({})).toBe('The page stated no rule of the site: everything optional waits for consent.');
  expect(await ruleOf({ compliance_framework: 'none', rule_id: 'us' })).toMatch(
    /Colorado.* That does not mean that no law applies\.$/,
  );
  // A record of before rules.
  expect((await linesOf('c2'))[en.record.rule]).toBeUndefined();
});

test('an erasure that was added to the package does not stand in for the one that the record names', async () => {
  const honest = await shown('c1');
  const { erasure } = await shown('c1', forgedErasure('c1'));
  expect(erasure).toEqual(honest.erasure);
  expect(erasure?.verdict).toBe('valid');
});

test('an erasure that is not valid erases nothing, and is proved at no time', async () => {
  const record = await shown('c2', forgedErasure('c2'));
  expect(record).toMatchObject({ verdict: 'valid', package_verdict: 'invalid', erased: true });
  expect(record.erasure).toMatchObject({ verdict: 'invalid', existed_by: null });
  const { By: by, Afterwards: afterwards } = Object.fromEntries(certificateOf(record, en) ?? []);
  expect(by).toBe('not disclosed in this file');
  expect(afterwards).toMatch(/^An erasure in this file names the record, but it is not proved \(event /);
  for (const text of [renderHtml(recordPage(record, en)), recordText(record, en)]) {
    expect(text).toContain('withheld');
    expect(text).not.toContain('were erased');
  }
});

test('a record that was added to the package withdraws nothing, and has no proved time', async () => {
  const record = await shown('c2', FORGED_WITHDRAWAL);
  expect(record).toMatchObject({ verdict: 'valid', superseded_by: null });
  expect(Object.fromEntries(certificateOf(record, en) ?? []).Afterwards).toMatch(/^This package proves no erasure/);
  const forged = await shown('forged', FORGED_WITHDRAWAL);
  expect(forged).toMatchObject({ verdict: 'invalid', proved: { before: null, after: null } });
  for (const text of [renderHtml(recordPage(forged, en)), recordText(forged, en)])
    expect(text).toContain('not proved: the record is invalid');
});

test('claims no more about the person than the record: browser, backend, approval token', async () => {
  const record = await shown('c2');
  const known = (members: object): string | undefined => {
    const given = { ...Object(record.record), ...members };
    return Object.fromEntries(certificateOf({ ...record, record: given }, en) ?? [])['How that is known'];
  };
  const alone = { identity_assurance: null, approval_token_id: null, vouched: [] };
  expect(known({ ...alone, channel: 'browser' })).toBe('an anonymous browser stated it, and nothing confirmed it');
  expect(known({ ...alone, channel: 's2s' })).toContain('without an approval token');
  const vouched = { identity_assurance: 'tenant_attested', approval_token_id: 'atk_1', vouched: ['signer_name'] };
  expect(known({ ...vouched, channel: 's2s' })).toContain('vouched for signer_name, by an approval token');
});

test('an event that is not a consent has no certificate', async () => {
  const record = await shown('e0');
  expect(certificateOf(record, en)).toBeNull();
  expect(renderHtml(recordPage(record, en))).not.toContain('What was recorded');
});

test('says in one sentence that a choice is that of an account, and nothing of that of a device', async () => {
  const token = { identity_assurance: 'tenant_attested', approval_token_id: 'ptk_1', vouched: ['visitor_id'] };
  const account = { ...token, scope: 'account' };
  const lines = await linesOfAct(account);
  expect(lines[en.record.scope]).toBe(
    'all devices of the person’s account; the backend of the website vouches for the person',
  );
  expect(lines[en.record.assurance]).toContain('vouched for visitor_id, by a person token that was used once');
  expect(lines[en.record.afterwards]).toContain('no later choice of the person’s account');
  expect((await linesOfAct({ channel: 's2s', scope: 'account' }, tr))[tr.record.scope]).toContain('tüm cihazları;');
  const { configuration } = await shown('c2');
  const shared = configuration && { ...configuration, accounts: { person_space: 'Örnek' } };
  expect((await linesOfAct(account, en, { configuration: shared }))[en.record.scope]).toContain('all sites of “Örnek”');
  // The choice of a device, and one for which nobody vouches.
  for (const act of [token, { scope: 'account' }]) {
    expect((await linesOfAct(act))[en.record.scope]).toBeUndefined();
    expect((await linesOfAct(act))[en.record.afterwards]).toContain('no later record of the person');
  }
});

test('says what was shown about the choice of the account', async () => {
  const presentation = { layout: 'bar', account: { text: 'It applies on every device.', language: 'en' } };
  const record = await shown('c2');
  const stated = z.record(z.string(), z.json()).parse(record.record);
  const committed = { ...stated, disclosures: { presentation: 'A'.repeat(43) } };
  const disclosed = [{ name: 'presentation', value: presentation }];
  const asked = (texts: Texts) =>
    Object.fromEntries(certificateOf({ ...record, record: committed, disclosed }, texts) ?? [])[
      texts.record.presentation.title
    ];
  expect(asked(en)).toContain('About the choice of the account, “It applies on every device.” was shown (en).');
  expect(asked(tr)).toContain('Hesabın tercihi hakkında “It applies on every device.” gösterildi (en).');
});
