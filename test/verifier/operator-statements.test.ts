import { expect, test } from 'vitest';
import type { LedgerPolicySetRecord } from '../../schemas/events/ledger-policy.js';
import { PlainName } from '../../schemas/evidence/primitives.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import type { Texts } from '../../verifier-cli/src/i18n/texts.js';
import { tr } from '../../verifier-cli/src/i18n/tr/index.js';
import { RecordWatch } from '../../verifier-cli/src/index.js';
import { renderHtml } from '../../verifier-cli/src/rendering/markup.js';
import { reportPage } from '../../verifier-cli/src/report/report-page.js';
import { terminalReport } from '../../verifier-cli/src/report/terminal.js';
import { certificateOf } from '../../verifier-cli/src/show/certificate.js';
import { certificatePage } from '../../verifier-cli/src/show/certificate-page.js';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { fixtureUuid, policyEvent } from '../support/ledger-fixture-events.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { verifyFixture } from './support.js';

const authority = fixtureAuthority(undefined, { organization: 'Example Trust, GmbH' });
const LABEL = en.evidence.operator;
const STATED = { operator: { legal_name: 'Örnek Defter A.Ş.' } };

const withPolicies = (...policies: readonly (readonly [number, Partial<LedgerPolicySetRecord>])[]): PackageHooks => ({
  world: ({ batches }) => {
    for (const [i, [batch, change]] of policies.entries())
      batches[batch]?.push(policyEvent(i + 1, batch * 10 + 2, change));
  },
});

async function found(hooks: PackageHooks, label = 'c3') {
  const watch = RecordWatch.of(fixtureUuid(label));
  const report = await verifyFixture(authority, buildPackage(authority, hooks), {}, watch);
  if (!watch?.shown) throw new Error(`no record ${label}`);
  return { report, shown: watch.shown, lines: Object.fromEntries(certificateOf(watch.shown, en) ?? []) };
}

test('the legal name is shown in report, record and certificate, as a statement of the operator', async () => {
  const { report, shown, lines } = await found(withPolicies([0, STATED]));
  expect(shown.verdict).toBe('valid');
  expect(lines[LABEL]).toBe('Örnek Defter A.Ş.');
  expect(report.operator).toEqual({ legal_name: 'Örnek Defter A.Ş.', qualified_stamps: [] });
  expect(terminalReport(report, en)).toContain(`  ${LABEL}: Örnek Defter A.Ş.`);
  const about = { file: 'a.zip', fileSha256: '0', verifier: { kind: 'page', sha256: null }, trust: 'reader' } as const;
  for (const texts of [en, tr]) {
    expect(renderHtml(reportPage(report, texts))).toContain(texts.evidence.operator);
    const page = certificatePage(shown, about, texts);
    if (page === null) throw new Error('no certificate');
    expect(renderHtml(page)).toContain(`<dt>${texts.evidence.operator}</dt><dd><bdi>Örnek Defter A.Ş.</bdi></dd>`);
  }
});

test('without a statement it says so, and a later policy says nothing about earlier records', async () => {
  const without = await found({});
  expect(without.lines[LABEL]).toBe('not stated');
  const later = await found(withPolicies([0, {}], [3, STATED]));
  expect(later.shown.proof.batch).toBe(1);
  expect(later.lines[LABEL]).toBe('not stated');
});

test('only an authority that made the stamp is shown as qualified by the operator’s own words', async () => {
  const link = 'https://tl.example/at';
  const of = (stated: string) =>
    found(withPolicies([0, { qualified_stamps: [{ organization: stated, trusted_list: link }] }]));
  const own = await of('EXAMPLE  Trust, gmbh');
  expect(own.lines[en.evidence.qualified]).toContain('as the operator states, qualified under eIDAS, see https://tl');
  expect(own.report.operator?.qualified_stamps).toHaveLength(1);
  const other = await of('Another Authority');
  expect(other.shown.verdict).toBe('valid');
  expect(other.lines).not.toHaveProperty(en.evidence.qualified);
  expect(other.report.operator?.qualified_stamps).toEqual([]);
});

test.each(['2800', '1680', '3164', '115f', '034f', 'fe0f', 'e0041', 'e0100', '200b', '00a0'])(
  'a name that readers see has no U+%s, and may have a letter beyond U+FFFF',
  (code) => {
    expect(PlainName.safeParse(`A${String.fromCodePoint(Number.parseInt(code, 16))}B`).success).toBe(false);
    expect(PlainName.safeParse('𐤀 Örnek').success).toBe(true);
  },
);

test('an altered name is not shown', async () => {
  const altered: PackageHooks = {
    ...withPolicies([0, STATED]),
    entryLines: (lines) =>
      lines.map((line) => ({ ...line, entry: String(line.entry).replace('Örnek Defter A.Ş.', 'Someone else') })),
  };
  const { report, shown, lines } = await found(altered);
  expect(shown.verdict).toBe('invalid');
  expect([shown.operator, report.operator]).toEqual([null, null]);
  expect(lines[LABEL]).toBe('not proved');
});

test('the package states why it was made, in which role, and a name only if it has one', async () => {
  const made = async (stated: object, texts: Texts) => {
    const { report } = await found({ manifest: (manifest) => ({ ...manifest, export: stated }) });
    expect(report.verdict).toBe('valid');
    expect(renderHtml(reportPage(report, texts))).toContain(`<dt>${texts.evidence.madeFor}</dt>`);
    return terminalReport(report, texts);
  };
  const stated = { role: 'dpo', reason: 'regulator_request' };
  expect(await made(stated, en)).toContain(
    '  Made for: a request of a supervisory authority, by a user with the role data-protection officer, as the package states',
  );
  expect(await made({ ...stated, name: 'Ayşe Yılmaz' }, tr)).toContain('rolündeki bir kullanıcı (“Ayşe Yılmaz”)');
  const name = 'X”), the court of Ankara (';
  expect(await made({ ...stated, name }, en)).toContain('(“X"), the court of Ankara (”), as the package states');
  expect(terminalReport((await found({})).report, en)).not.toContain(en.evidence.madeFor);
});
