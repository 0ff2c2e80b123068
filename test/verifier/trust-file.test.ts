import { describe, expect, test } from 'vitest';
import { parseWitnesses } from '../../verifier-cli/src/cli/options.js';
import { UsageError } from '../../verifier-cli/src/cli/usage-error.js';
import { parseTrustFile, type TrustFile, TrustFileMalformed } from '../../verifier-cli/src/trust/trust-file.js';
import { cosignatureLine, type NoteKey, noteKey } from '../support/independent-tlog.js';
import { fixtureAuthority, LEDGER_KEY, ORIGIN } from '../support/ledger-fixture.js';
import { buildPackage } from '../support/package-builder.js';
import { notPassed, verifyFixture } from './support.js';

const authority = fixtureAuthority();
const NEWEST = 5;
const TIME = Date.parse('2026-02-01T00:00:00Z') / 1000;
const witness = (name: string): NoteKey => noteKey(`witness.example/${name}`, 4);
const [X1, X2, X3, Y1, Y2] = [witness('x1'), witness('x2'), witness('x3'), witness('y1'), witness('y2')];

const lines = (...parts: readonly string[]): string => parts.map((part) => `${part}\n`).join('');
const LOG = `log ${LEDGER_KEY.verifierKey}`;
const PEM = lines(
  '-----BEGIN CERTIFICATE-----',
  ...(Buffer.from(authority.root.der)
    .toString('base64')
    .match(/.{1,64}/g) ?? []),
  '-----END CERTIFICATE-----',
);
/** The example of the specification, with keys. */
const EXAMPLE = lines(
  '# Ledger of the example',
  `\t${LOG}  https://ledger.example/ `,
  '',
  `witness X1 ${X1.vkey}`,
  `witness X2 ${X2.vkey} https://x2.example`,
  `witness X3 ${X3.vkey}`,
  'group X-witnesses 2 X1 X2 X3',
  `witness Y1 ${Y1.vkey}`,
  `witness Y2 ${Y2.vkey}`,
  'group Y-witnesses any Y1 Y2',
  'group X-and-Y all X-witnesses Y-witnesses',
  'quorum X-and-Y',
);

const parse = (text: string | Uint8Array): TrustFile => parseTrustFile(Buffer.from(text));

function problemOf(text: string | Uint8Array): string {
  try {
    parse(text);
  } catch (error) {
    if (error instanceof TrustFileMalformed) return error.message;
    throw error;
  }
  throw new Error('the file was accepted');
}

describe('a trust file', () => {
  test('has ledger keys, witnesses with a quorum, and roots', () => {
    const { ledgerKeys, witnesses, trustAnchors } = parse(EXAMPLE + PEM);
    expect(ledgerKeys.map(({ name }) => name)).toEqual([ORIGIN]);
    expect(witnesses.keys.map(({ name }) => name)).toEqual([X1, X2, X3, Y1, Y2].map(({ name }) => name));
    expect(witnesses).toMatchObject({ required: 3, quorum: { name: 'X-and-Y', threshold: 2 } });
    expect(trustAnchors.map((der) => Buffer.from(der))).toEqual([Buffer.from(authority.root.der)]);
  });

  test('with “quorum none” requires no witness', () => {
    expect(parse(lines(`witness W ${X1.vkey}`, 'quorum none')).witnesses).toMatchObject({ required: 0 });
  });

  test('with “quorum none” is what --witnesses 0 says, whatever the policy of the ledger demands', () => {
    const { keys } = parse(lines(`witness W ${X1.vkey}`, 'quorum none')).witnesses;
    expect(parseWitnesses(keys, '0')).toEqual({ keys, required: 0 });
    expect(parseWitnesses([], '0')).toEqual({ keys: [], required: 0 });
    expect(parseWitnesses(keys, undefined)).toEqual({ keys, required: null });
    for (const text of ['00', '01', '-1', '1000', '2']) expect(() => parseWitnesses(keys, text)).toThrow(UsageError);
  });

  test('may have octets in comments that are not UTF-8', () => {
    expect(() => parse(Buffer.concat([Buffer.from([0x23, 0xff, 0x0a]), Buffer.from('quorum none\n')]))).not.toThrow();
  });

  const W = `witness W ${X1.vkey}`;
  test.each<[string, string | Uint8Array, string]>([
    ['without a quorum', lines(LOG), 'it has no “quorum” line'],
    ['with two quorums', lines(W, 'quorum W', 'quorum none'), 'line 3: there is a second “quorum” line'],
    ['that is cut off', `${LOG}\nquorum none`, 'line 2: it does not end with a line feed'],
    ['with carriage returns', 'quorum none\r\n', 'line 1: it has a control character'],
    ['with a name that is not UTF-8', Buffer.from([...Buffer.from('quorum '), 0xff, 0x0a]), 'line 1: it is not UTF-8'],
    ['with an unknown line', lines('', 'threshold 2', 'quorum none'), 'line 2: “threshold” is unknown'],
    [
      'with text beside certificates',
      lines('subject=/CN=root', 'quorum none'),
      'line 1: “subject=/CN=root” is unknown',
    ],
    [
      'with a log of a type for witnesses',
      lines(`log ${X1.vkey}`),
      'is not a verifier key of a log, of type 0x01 or 0x06',
    ],
    [
      'with a witness of a type for logs',
      lines(`witness W ${LEDGER_KEY.verifierKey}`),
      'of a witness, of type 0x04 or 0x06',
    ],
    ['with a damaged key', lines(LOG.replace('+', '+0')), 'is not a verifier key of a log'],
    ['with one log twice', lines(LOG, LOG), 'line 2: an earlier log line has the same public key'],
    ['with one witness twice', lines(W, `witness V ${X1.vkey}`), 'line 2: an earlier witness line has the same'],
    ['with one name twice', lines(W, `witness W ${X2.vkey}`), 'line 2: the name “W” is taken'],
    ['with a witness named none', lines(`witness none ${X1.vkey}`), 'line 1: the name “none” is taken'],
    ['with a group of an unknown name', lines(W, 'group G any V'), 'line 2: no earlier line defines'],
    ['with none in a group', lines('group G any none'), 'line 1: no earlier line defines'],
    ['with a group before its member', lines('group G any W', W), 'line 1: no earlier line defines'],
    ['with one member in two groups', lines(W, 'group G any W', 'group H any W'), 'line 3: “W” is already a member'],
    ['with one member twice in a group', lines(W, 'group G 2 W W'), 'line 2: “W” is already a member'],
    ['with a threshold of zero', lines(W, 'group G 0 W'), 'line 2: “0” is not “all”, “any” or a number from 1 to 1'],
    ['with a threshold above the members', lines(W, 'group G 2 W'), 'line 2: “2” is not'],
    ['with a group without members', lines(W, 'group G all'), 'line 2: write it as: group'],
    ['with a quorum of an unknown name', lines(W, 'quorum V'), 'line 2: no earlier line defines'],
    ['with a word too many', lines(`${LOG} https://a.example https://b.example`), 'line 1: write it as: log'],
    ['with a certificate that has no end', lines('quorum none') + PEM.slice(0, 200), 'does not end with a line feed'],
    [
      'with a damaged certificate',
      lines('quorum none') + PEM.replace('\n', '\nAAAA'),
      'line 2: the certificate cannot',
    ],
  ])('%s is refused with its line', (_, text, problem) => {
    expect(problemOf(text)).toContain(problem);
  });
});

describe('the quorum of a trust file', () => {
  const { ledgerKeys, witnesses, trustAnchors } = parse(EXAMPLE + PEM);
  const outcomeWith = async (...cosigners: readonly NoteKey[]) => {
    const zip = buildPackage(authority, {
      files: (files) => {
        const note = Buffer.from(files.get(`checkpoints/${NEWEST}.note`) ?? '').toString('utf8');
        const text = note.slice(0, note.lastIndexOf('\n\n') + 1);
        const cosigned = cosigners.map((key) => cosignatureLine(key, text, TIME)).join('');
        if (cosigned !== '') files.set(`checkpoints/${NEWEST}.cosignatures`, Buffer.from(cosigned));
      },
    });
    return await verifyFixture(authority, zip, { ledgerKeys, witnesses, trustAnchors });
  };

  test('is met by enough members of each group', async () => {
    const report = await outcomeWith(X1, X3, Y2);
    expect(report.verdict).toBe('valid');
    expect(report.witnesses).toMatchObject({ required: 3, missing: [X2.name, Y1.name] });
  });

  test.each<[string, readonly NoteKey[]]>([
    ['no witness', []],
    ['as many witnesses, of one group', [X1, X2, X3]],
    ['too few of one group', [X1, Y1, Y2]],
  ])('is not met by %s', async (_, cosigners) => {
    const report = await outcomeWith(...cosigners);
    expect(notPassed(report)).toEqual({ 'ledger.witnesses': 'indeterminate' });
    const found = report.checks.find(({ id }) => id === 'ledger.witnesses');
    expect(JSON.stringify(found)).toContain('do not meet the quorum “X-and-Y” of your trust policy');
  });
});
