import { describe, expect, test } from 'vitest';
import { ConsentRecord } from '../../schemas/events/consent-recorded.js';
import { Findings } from '../../verifier-cli/src/findings/findings.js';
import { Statements } from '../../verifier-cli/src/records/statements.js';
import { contradictionsOf } from '../../verifier-cli/src/show/contradicted-presentation.js';
import type { ConsentMembers } from '../../verifier-cli/src/versions/schemes.js';
import { fixtureConsent } from '../support/ledger-fixture-events.js';

describe('what a reader should know of stated questions and of imports', () => {
  const consent: ConsentMembers = {
    ...ConsentRecord.parse(fixtureConsent('c0', 11).record),
    categories: null,
  };
  const codesOf = (take: (statements: Statements) => void): readonly string[] => {
    const [statements, findings] = [new Statements(), new Findings()];
    take(statements);
    statements.finish(findings, () => null);
    return findings.warnings.first.map(({ code }) => code ?? '');
  };
  const at = () => ({ file: 'entries.ndjson' });
  const shown = (control: string, controls = ['accept', 'reject']) => [
    { salt: '', name: 'presentation', value: { control, controls } },
  ];

  test.each<[string, string, ConsentMembers['decision'], boolean]>([
    ['accepting', 'accept', 'accepted', false],
    ['refusing, and the record is accepted', 'reject', 'accepted', true],
    ['accepting, and the record is a withdrawal', 'accept', 'withdrawn', true],
    ['a control that was not shown', 'save', 'partial', true],
  ])('%s', (_, control, decision, isNamed) => {
    const codes = codesOf((statements) => statements.accept({ ...consent, decision }, shown(control), at));
    expect(codes).toEqual(isNamed ? ['presentation-contradicts'] : []);
    expect(contradictionsOf({ control, controls: ['accept', 'reject'] }, { ...consent, decision }).length > 0).toBe(
      isNamed,
    );
  });

  const notice = { text: 'Opt-Out Request Honored', language: 'en', version: 1 };
  const replaced = `${notice.text}. Your browser’s signal replaces your earlier choice. You can choose again.`;
  test.each<[string, object, boolean]>([
    ['of the SDK', { notice, sdk: 'browser 0.1.0' }, false],
    ['of the SDK for a conflict', { notice: { ...notice, text: replaced }, sdk: 'browser 0.1.0' }, false],
    ['of the SDK in another language', { notice: { ...notice, language: 'de' }, sdk: 'browser 0.1.0' }, true],
    ['with other words', { notice: { ...notice, text: 'Cookies accepted' }, sdk: 'browser 0.1.0' }, true],
    [
      'with other words, of a version that is not known',
      { notice: { ...notice, text: 'x', version: 2 }, sdk: 'browser 2.0.0' },
      false,
    ],
    ['of a program of the site', { notice: { ...notice, text: 'We heard you' }, sdk: 'shop 1' }, false],
  ])('a notice %s', (_, value, isNamed) => {
    const stated = [{ salt: '', name: 'presentation', value: JSON.parse(JSON.stringify(value)) }];
    const codes = codesOf((statements) => statements.accept(consent, stated, at));
    expect(codes).toEqual(isNamed ? ['presentation-contradicts'] : []);
  });

  const imported = (row: number, claimed: string, end: string | null): ConsentMembers => ({
    ...consent,
    valid_until: end,
    import: {
      claimed_at: claimed,
      tool: 'Tool',
      file_sha256: 'ab'.repeat(32),
      row,
      mapping_sha256: 'cd'.repeat(32),
      imported_by: 'operator',
    },
  });
  test.each<[string, readonly ConsentMembers[], readonly string[]]>([
    ['two rows', [imported(1, '2021-01-01T00:00:00.000Z', null), imported(2, '2021-01-01T00:00:00.000Z', null)], []],
    [
      'one row twice',
      [imported(1, '2021-01-01T00:00:00.000Z', null), imported(1, '2022-01-01T00:00:00.000Z', null)],
      ['import-row-twice'],
    ],
    ['year 1', [imported(1, '0001-01-01T00:00:00.000Z', null)], ['import-odd-times']],
    ['valid until 9999', [imported(1, '2021-01-01T00:00:00.000Z', '9999-12-31T00:00:00.000Z')], ['import-odd-times']],
  ])('imports: %s', (_, records, expected) => {
    const codes = codesOf((statements) => {
      for (const one of records) statements.accept(one, [], at);
    });
    expect(codes.filter((code) => code !== 'consents-imported')).toEqual(expected);
  });
});
