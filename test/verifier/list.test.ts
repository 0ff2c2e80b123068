import { expect, test } from 'vitest';
import { consentToken } from '../../schemas/events/consent-recorded.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import { memorySource, RecordWatch, verifyPackage } from '../../verifier-cli/src/index.js';
import { ConsentList } from '../../verifier-cli/src/list/consent-list.js';
import { consentsCsv } from '../../verifier-cli/src/list/consents-csv.js';
import { consentsTable } from '../../verifier-cli/src/list/consents-table.js';
import { consentsText } from '../../verifier-cli/src/list/consents-text.js';
import type { ConsentListing, ListedConsent } from '../../verifier-cli/src/list/listed-consent.js';
import { consentsOfPerson, selectConsents } from '../../verifier-cli/src/list/select-consents.js';
import { withSuccessors } from '../../verifier-cli/src/list/successors.js';
import { renderHtml } from '../../verifier-cli/src/rendering/markup.js';
import { fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { fixtureUuid } from '../support/ledger-fixture-events.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { FORGED_WITHDRAWAL, forgedErasure } from './forged-lines.js';
import { verifierKey } from './support.js';

const authority = fixtureAuthority();

const TRUSTED = {
  trustAnchors: [authority.root.der],
  ledgerKeys: [verifierKey(LEDGER_KEY.verifierKey)],
  at: VERIFIED_AT,
};

async function listOf(hooks: PackageHooks = {}, limit = 100, isTrusted = true): Promise<ConsentListing> {
  const list = new ConsentList(limit);
  const trustAnchors = isTrusted ? TRUSTED.trustAnchors : [];
  await verifyPackage(memorySource(buildPackage(authority, hooks)), { ...TRUSTED, trustAnchors }, { list });
  return list.listing;
}

const changed: PackageHooks = {
  entryLines: (lines) =>
    lines.map((line) => ({
      ...line,
      entry: String(line.entry).replace('"decision":"rejected"', '"decision":"accepted"'),
    })),
};

/** Alterations that affect single records. */
const HOOKS: Readonly<Record<string, PackageHooks>> = {
  none: {},
  'an entry that was changed': changed,
  'a text that was changed': {
    signedFiles: (files) => {
      for (const name of files.keys()) if (name.startsWith('notices/')) files.set(name, new Uint8Array([65]));
    },
  },
  'an entry left out': { entryLines: (lines) => lines.filter((_, i) => i !== 2) },
  'an entry twice': { entryLines: (lines) => lines.flatMap((line, i) => (i === 1 ? [line, line] : [line])) },
};

test('lists every consent in the order of the ledger, with what the package shows of it', async () => {
  const { consents, count } = await listOf();
  expect(count).toBe(8);
  expect(consents.map(({ revision }) => revision)).toEqual(
    consents.map(({ revision }) => revision).toSorted((a, b) => a - b),
  );
  expect(new Set(consents.map(({ verdict }) => verdict))).toEqual(new Set(['valid']));
  const [first] = consents;
  expect(first).toMatchObject({
    event_id: fixtureUuid('c0'),
    consent_token: consentToken(fixtureUuid('c0')),
    decision: 'accepted',
    scope: 'device',
    existed_by: expect.stringMatching(/^2026-03-01T/),
    text: { title: 'Cookies', number: 1 },
    disclosed: { visitor_id: 'visitor of c0' },
    erased: false,
  });
  expect(consents.filter(({ erased }) => erased)).toHaveLength(2);
});

test('an altered record alone is invalid, and no record is valid without a trusted time stamp', async () => {
  const { consents } = await listOf(changed);
  const invalid = consents.filter(({ verdict }) => verdict === 'invalid').map(({ event_id: id }) => id);
  expect(invalid).toEqual([fixtureUuid('c2')]);
  const untrusted = await listOf({}, 100, false);
  expect(untrusted.consents.map(({ verdict }) => verdict)).not.toContain('valid');
  expect(untrusted.consents.map(({ existed_by: time }) => time)).toEqual(untrusted.consents.map(() => null));
});

test('holds no more than its limit, and counts the others', async () => {
  const whole = await listOf();
  const { consents, count } = await listOf({}, 3);
  expect(count).toBe(8);
  expect(consents.map(({ event_id: id }) => id)).toEqual(whole.consents.slice(0, 3).map(({ event_id: id }) => id));
  expect(consentsText(consents, { consents, count }, false, en)).toContain(
    '3 consents of 8 in the package. Only the first 3',
  );
});

const consent = (label: string, rest: Partial<ListedConsent> = {}): ListedConsent => ({
  line: 1,
  imported: null,
  event_id: fixtureUuid(label),
  consent_token: consentToken(fixtureUuid(label)),
  stream: 'consents-x',
  revision: 0,
  verdict: 'valid',
  recorded_at: '2026-03-01T10:00:00.000Z',
  existed_by: '2026-03-01T10:10:00.000Z',
  consent_type: 'cookies',
  decision: 'accepted',
  scope: 'device',
  document_version_id: null,
  language: 'en',
  text: { title: 'Cookies', number: 1 },
  disclosed: {},
  erased: false,
  erasure_verdict: null,
  superseded_by: null,
  ...rest,
});
const of = (visitor: string) => ({ disclosed: { visitor_id: visitor } });

test('the next record of the same person and type supersedes a record, and no other does', () => {
  const consents = [
    consent('a', of('ann')),
    consent('b', of('ben')),
    consent('c', { ...of('ann'), consent_type: 'terms' }),
    consent('d', { ...of('ann'), decision: 'withdrawn' }),
    consent('e'),
    consent('f', of('ann')),
  ];
  const successors = (isOfOnePerson: boolean) =>
    withSuccessors(consents, isOfOnePerson).map(({ superseded_by: next }) => next?.event_id ?? null);
  const [d, f] = [fixtureUuid('d'), fixtureUuid('f')];
  expect(successors(false)).toEqual([d, null, null, f, null, null]);
  const [b, e] = [fixtureUuid('b'), fixtureUuid('e')];
  expect(successors(true)).toEqual([b, d, null, e, f, null]);
  const table = renderHtml(consentsTable(withSuccessors(consents, false), 6, false, en));
  expect(table).toContain('withdrawn later');
  const objection = { ...of('ann'), consent_type: 'objection' };
  const acts = [
    consent('g', { ...objection, decision: 'rejected' }),
    consent('h', { ...objection, decision: 'withdrawn' }),
    consent('i', { consent_type: 'do_not_sell_opt_out' }),
  ];
  const text = consentsText(withSuccessors(acts, false), { consents: acts, count: 3 }, false, en);
  for (const word of ['objected', 'taken back later', 'objection taken back', 'opted out'])
    expect(text).toContain(word);
  expect(text).not.toMatch(/ (?:accepted|rejected|withdrawn) /);
});

test('the choice of a device supersedes none of an account, and the account’s supersedes both', () => {
  const account = { ...of('ann'), scope: 'account' } as const;
  const withdrawn = { decision: 'withdrawn' };
  const consents = [
    consent('a', of('ann')),
    consent('b', account),
    consent('c', { ...of('ann'), ...withdrawn }),
    consent('d', { ...account, ...withdrawn }),
    consent('e', of('ann')),
  ];
  const [b, d] = ['b', 'd'].map(fixtureUuid);
  const listed = withSuccessors(consents, false);
  expect(listed.map(({ superseded_by: next }) => next?.event_id ?? null)).toEqual([b, d, d, null, null]);
  const said = consentsText(listed, { consents: listed, count: 5 }, false, en);
  expect(said).toContain('accepted (account)');
  expect(said).toContain(en.list.accountNote);
  expect(consentsText(listed.slice(2, 3), { consents: listed, count: 5 }, false, en)).not.toContain('account');
  expect(renderHtml(consentsTable(listed, 5, false, en)).split('all devices of the person’s account')).toHaveLength(3);
  expect(consentsCsv(listed, false)).toContain('"withdrawn","account"');
});

test('selects by a text, a decision and a verdict, and by a person whose value is disclosed', () => {
  const consents = [
    consent('a', { disclosed: { signer_email: 'Ann@Example.org' } }),
    consent('b', { decision: 'rejected', erased: true }),
    consent('c', { verdict: 'invalid', text: { title: 'Terms', number: 2 } }),
    consent('d', { consent_type: 'objection', decision: 'rejected' }),
  ];
  const found = (selection: Partial<Parameters<typeof selectConsents>[1]>) =>
    selectConsents(consents, { text: '', decision: null, verdict: null, ...selection }).map((one) =>
      consents.indexOf(one),
    );
  expect(found({})).toEqual([0, 1, 2, 3]);
  expect(found({ text: ' ANN@' })).toEqual([0]);
  expect(found({ text: 'terms' })).toEqual([2]);
  expect(found({ text: consents[1]?.consent_token ?? '' })).toEqual([1]);
  expect(found({ decision: 'rejected' })).toEqual([1]);
  expect(found({ decision: 'objection rejected' })).toEqual([3]);
  expect(found({ verdict: 'invalid' })).toEqual([2]);
  expect(found({ verdict: 'erased' })).toEqual([1]);
  expect(consentsOfPerson(consents, 'ann@example.org')).toEqual([consents[0]]);
  expect(consentsOfPerson(consents, 'ann')).toEqual([]);
});

test('writes CSV with a column for each disclosed value, and no cell that a spreadsheet evaluates', () => {
  const csv = consentsCsv(
    [
      consent('a', { disclosed: { signer_name: '=HYPERLINK("x")', visitor_id: 'ann' } }),
      consent('b', { text: null, disclosed: { visitor_id: 'a,b\r\n"c"' } }),
    ],
    false,
  );
  const [head = '', first = ''] = csv.split('\r\n');
  expect(head.split(',').slice(-2)).toEqual(['signer_name', 'visitor_id']);
  expect(first).toContain(`"'=HYPERLINK(""x"")","ann"`);
  expect(csv).toContain('"a,b\n""c"""');
});

test('writes no control character and no character of bidirectional text into CSV', () => {
  const disclosed = { visitor_id: '\u001b[2J\u202egnp.exe', extra_fields: { a: '\u2066b' } };
  const csv = consentsCsv([consent('a', { disclosed, text: null })], false);
  expect(csv).toContain('"\\u{1b}[2J\\u{202e}gnp.exe"');
  expect(csv).toContain('\\u{2066}b');
  expect([...csv].filter((character) => /[\p{Cf}\p{Cc}]/u.test(character) && !/[\r\n]/.test(character))).toEqual([]);
});

test.each([
  ['a;=1+1', "a;'=1+1"],
  ['a;"=1+1', `a;""'=1+1`],
  ['a\t-1;b\r\n@x', "a\t'-1;b\n'@x"],
  ['a; +1', "a; '+1"],
  ['\t=1', "'\t'=1"],
  ['a-b = c@d', 'a-b = c@d'],
])('no part of a CSV cell is evaluated where another character separates cells: %j', (value, expected) => {
  const rows = consentsCsv([consent('a', { disclosed: { visitor_id: value } })], false);
  expect(rows.endsWith(`,"${expected}"\r\n`)).toBe(true);
});

test('an invalid record supersedes none, and one that is not proved is called so', () => {
  const consents = (verdict: ListedConsent['verdict']) =>
    withSuccessors(
      [
        consent('a', of('ann')),
        consent('b', { ...of('ann'), decision: 'withdrawn', verdict }),
        consent('c', of('ann')),
      ],
      false,
    );
  const c = { event_id: fixtureUuid('c'), decision: 'accepted', verdict: 'valid' };
  expect(consents('invalid').map(({ superseded_by: next }) => next)).toMatchObject([c, c, null]);
  const open = consents('indeterminate');
  expect(open[0]?.superseded_by).toMatchObject({ event_id: fixtureUuid('b'), verdict: 'indeterminate' });
  expect(renderHtml(consentsTable(open, 3, false, en))).toContain('withdrawn later, not proved');
});

test('a record added to the package has no proved time, and changes what is said of no other', async () => {
  const { consents } = await listOf(FORGED_WITHDRAWAL);
  expect(consents.find(({ event_id: id }) => id === fixtureUuid('forged'))).toMatchObject({
    verdict: 'invalid',
    decision: 'withdrawn',
    existed_by: null,
  });
  expect(consents.find(({ event_id: id }) => id === fixtureUuid('c2'))).toMatchObject({
    existed_by: '2026-03-01T10:19:00.000Z',
    superseded_by: null,
  });
});

test('the list says that an erasure is not proved where only invalid ones name a record', async () => {
  const { consents } = await listOf(forgedErasure('c2'));
  const one = consents.find(({ event_id: id }) => id === fixtureUuid('c2'));
  expect(one).toMatchObject({ erased: true, erasure_verdict: 'invalid' });
  const table = renderHtml(consentsTable(one === undefined ? [] : [one], 1, false, en));
  expect(table).toContain('named by an erasure, not proved');
  expect(table).not.toContain('personal details erased');
  const honest = await listOf();
  expect(honest.consents.find(({ event_id: id }) => id === fixtureUuid('c1'))?.erasure_verdict).toBe('valid');
});

test('a development stamp gives no row the mark of a valid one, and the CSV a column that says so', () => {
  const text = (isDevelopment: boolean) =>
    consentsText([consent('a')], { consents: [consent('a')], count: 1 }, isDevelopment, en);
  expect(text(false)).toContain('✓');
  expect(text(true)).not.toContain('✓');
  expect(text(true)).toMatch(/^!/m);
  expect(renderHtml(consentsTable([consent('a')], 1, true, en))).not.toContain('✓');
  const column = (isDevelopment: boolean) => {
    const [head = '', row = ''] = consentsCsv([consent('a')], isDevelopment).split('\r\n');
    return row.split(',')[head.split(',').indexOf('development')];
  };
  expect([column(false), column(true)]).toEqual(['false', 'true']);
});

test('a development stamp makes no row green', () => {
  const row = (isDevelopment: boolean) => renderHtml(consentsTable([consent('a')], 1, isDevelopment, en));
  expect(row(false)).toContain('class="mark pass"');
  expect(row(true)).not.toContain('class="mark pass"');
});

test('no text of a record changes the structure of the table or acts on a terminal', () => {
  const hostile = '<img src=x onerror=alert(1)>\u001b[2J\u202e';
  const one = consent('a', {
    decision: hostile,
    consent_type: hostile,
    text: { title: hostile, number: 1 },
    disclosed: { visitor_id: hostile },
    recorded_at: hostile,
    existed_by: hostile,
  });
  for (const text of [
    renderHtml(consentsTable([one], 1, false, en)),
    consentsText([one], { consents: [one], count: 1 }, false, en),
  ]) {
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\u202e');
  }
  expect(renderHtml(consentsTable([one], 1, false, en))).not.toContain('<img');
});

test.each(Object.entries(HOOKS))('states the verdict that `show` states of each record: %s', async (_, hooks) => {
  const zip = buildPackage(authority, hooks);
  const list = new ConsentList(100);
  await verifyPackage(memorySource(zip), TRUSTED, { list });
  for (const { event_id: id, verdict, erased } of list.listing.consents) {
    const watch = RecordWatch.of(id);
    await verifyPackage(memorySource(zip), TRUSTED, { watch });
    expect({ id, verdict: watch?.shown?.verdict, erased: watch?.shown?.erased }).toEqual({ id, verdict, erased });
  }
});
