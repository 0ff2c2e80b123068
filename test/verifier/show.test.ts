import { createHash } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { consentToken } from '../../schemas/events/consent-recorded.js';
import { runShow } from '../../verifier-cli/src/cli/show-command.js';
import { UsageError } from '../../verifier-cli/src/cli/usage-error.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import {
  memorySource,
  RecordWatch,
  recordText,
  type ShownRecord,
  type VerifyOptions,
  verifyPackage,
} from '../../verifier-cli/src/index.js';
import { renderHtml } from '../../verifier-cli/src/rendering/markup.js';
import { drawnBanner } from '../../verifier-cli/src/show/drawn-banner.js';
import { buildLedger, fixtureAuthority, LEDGER_KEY, VERIFIED_AT } from '../support/ledger-fixture.js';
import { fixtureUuid } from '../support/ledger-fixture-events.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { verifierKey } from './support.js';

const authority = fixtureAuthority();

async function show(
  name: string,
  hooks: PackageHooks = {},
  options: Partial<VerifyOptions> = {},
): Promise<ShownRecord | null> {
  const watch = RecordWatch.of(name);
  if (watch === null) throw new Error(`no name of a record: ${name}`);
  const trust = { trustAnchors: [authority.root.der], ledgerKeys: [verifierKey(LEDGER_KEY.verifierKey)] };
  const given = { ...trust, at: VERIFIED_AT, ...options };
  await verifyPackage(memorySource(buildPackage(authority, hooks)), given, { watch });
  return watch.shown;
}

const changed: PackageHooks = {
  entryLines: (lines) =>
    lines.map((line) => ({
      ...line,
      entry: String(line.entry).replace('"decision":"rejected"', '"decision":"accepted"'),
    })),
};

const node = (left: string, right: string) =>
  createHash('sha256')
    .update(Buffer.from(`01${left}${right}`, 'hex'))
    .digest('hex');

test.each(['paths', 'leaves'] as const)(
  'the path printed leads from the record to the stamped checkpoint (%s)',
  async (proofForm) => {
    const shown = await show(fixtureUuid('c3'), { proofForm });
    const ledger = buildLedger(authority);
    const entry = ledger.entries.find(({ event }) => event.label === 'c3');
    expect(shown?.verdict).toBe('valid');
    expect(shown?.proof.leaf).toBe(Buffer.from(entry?.leaf ?? []).toString('hex'));
    const walk = (from: string, steps: ShownRecord['proof']['batch_path'] = null) =>
      (steps ?? []).reduce(
        (hash, step) => (step.side === 'left' ? node(step.hash, hash) : node(hash, step.hash)),
        from,
      );
    expect(shown?.proof.batch_path).toHaveLength(3);
    expect(walk(shown?.proof.leaf ?? '', shown?.proof.batch_path)).toBe(shown?.proof.batch_root);
    expect(walk(shown?.proof.header_leaf ?? '', shown?.proof.ledger_path)).toBe(shown?.proof.checkpoint?.root);
    expect(shown?.proof).toMatchObject({
      batch: 1,
      index: entry?.index,
      count: 7,
      stamp: { file: 'checkpoints/2.1.tsr' },
    });
    expect(shown?.proved.before?.time).toBe('2026-03-01T10:19:00.000Z');
  },
);

test('a record is found by event id, consent token and proof hash, with its values and the exact text', async () => {
  const id = fixtureUuid('c3');
  const hash = createHash('sha256').update('proof of c3').digest('hex');
  for (const name of [id, consentToken(id), hash]) {
    const shown = await show(name);
    expect(shown).toMatchObject({ event_id: id, consent_token: consentToken(id), proof_hash: hash, withheld: 0 });
    expect(shown?.disclosed.map(({ name: field }) => field)).toEqual(['visitor_id', 'signer_name', 'signature_image']);
    expect(shown?.text?.source).toBe('# Cookies\n\nWe use cookies. <script>alert(1)</script>\n');
  }
  expect(await show(fixtureUuid('c9'))).toBeNull();
  expect(RecordWatch.of('c3')).toBeNull();
});

test('an erased record is called erased, and an erasure is shown as what it is', async () => {
  expect(await show(fixtureUuid('c1'))).toMatchObject({ verdict: 'valid', erased: true, withheld: 2, disclosed: [] });
  expect(await show(fixtureUuid('e0'))).toMatchObject({
    verdict: 'valid',
    type: 'SubjectErased.v1',
    consent_token: null,
  });
});

test('a record keeps its own verdict where another is wrong', async () => {
  const good = await show(fixtureUuid('c3'), changed);
  expect(good).toMatchObject({ verdict: 'valid', package_verdict: 'invalid' });
  const bad = await show(fixtureUuid('c2'), changed);
  expect(bad).toMatchObject({ verdict: 'invalid', package_verdict: 'invalid' });
  expect(bad?.checks.find(({ id }) => id === 'entry.inclusion')?.outcome).toBe('fail');
});

test('the question of an invalid record is not drawn, because its words may not be sealed', async () => {
  const presentation = { name: 'presentation', value: { layout: 'bar', layout_version: 2, layer: 'first' } };
  const stated = (shown: ShownRecord | null): ShownRecord => {
    if (shown === null) throw new Error('the package does not have the record');
    return { ...shown, disclosed: [presentation] };
  };
  const id = fixtureUuid('c2');
  expect(drawnBanner(stated(await show(id)))).toMatchObject({ layout: 'bar' });
  expect(drawnBanner(stated(await show(id, changed)))).toBe('invalid');
});

test('a question is not drawn without what was said about the account', async () => {
  const shown = await show(fixtureUuid('c2'));
  if (shown === null) throw new Error('the package does not have the record');
  const account = { text: 'It applies on every device.', language: 'en' };
  const value = { layout: 'bar', layout_version: 2, layer: 'first', account };
  expect(drawnBanner({ ...shown, disclosed: [{ name: 'presentation', value }] })).toBe('layout');
});

test('the words of a drawn question stay in their places, and joiners of their script stay as they are', async () => {
  const shown = await show(fixtureUuid('c2'));
  const { configuration } = shown ?? {};
  if (shown == null || configuration == null) throw new Error('the package does not have the record');
  const presentation = { name: 'presentation', value: { layout: 'bar', layout_version: 2, layer: 'first' } };
  const title = 'a\u202eb\u2066c\u2028d\u0007e\u200df\nz';
  const banner = Object.fromEntries(
    Object.entries(configuration.banner).map(([language, texts]) => [language, { ...texts, title }]),
  );
  const drawn = drawnBanner({ ...shown, disclosed: [presentation], configuration: { ...configuration, banner } });
  if (drawn === null || typeof drawn === 'string') throw new Error('the question is not drawn');
  const html = renderHtml({ drawing: drawn.drawing });
  expect(html).toContain('a\\u{202e}b\\u{2066}c\\u{2028}d\\u{7}e\u200df\nz');
  expect(html).not.toMatch(/[\u202a-\u202e\u2066-\u2069\u2028\u2029]/);
});

test.each<[string, PackageHooks, Partial<VerifyOptions>, string]>([
  ['without the key of the ledger', {}, { ledgerKeys: [] }, 'indeterminate'],
  ['without a root', {}, { trustAnchors: [] }, 'indeterminate'],
  [
    'with a changed file in the package',
    { signedFiles: (files) => files.set('README.txt', new Uint8Array(1)) },
    {},
    'invalid',
  ],
  [
    'with another text',
    {
      signedFiles: (files) => {
        for (const name of files.keys()) if (name.startsWith('notices/')) files.set(name, new Uint8Array([65]));
      },
    },
    {},
    'invalid',
  ],
  [
    'with a value that it does not commit to',
    { entryLines: (lines) => lines.map((line) => ({ ...line, disclosures: ['WyJ4Il0'] })) },
    {},
    'invalid',
  ],
])('no record is valid %s', async (_, hooks, options, verdict) => {
  const shown = await show(fixtureUuid('c3'), hooks, options);
  expect(shown?.verdict).toBe(verdict);
  expect(shown?.disclosed.some(({ name }) => name === 'x')).toBe(false);
});

test('two entries for one event spoil each other', async () => {
  const twice: PackageHooks = { entryLines: (lines) => lines.flatMap((line, i) => (i === 4 ? [line, line] : [line])) };
  const ids = ['c0', 'c1', 'c2', 'c3', 'c4', 'c5'].map(fixtureUuid);
  const shown = await Promise.all(ids.map((id) => show(id, twice)));
  expect(
    shown.filter((record) => record?.checks.some(({ id, outcome }) => id === 'entry.order' && outcome === 'fail')),
  ).toHaveLength(1);
});

test('printed, it is readable, and nothing in it moves the cursor', async () => {
  const shown = await show(fixtureUuid('c3'));
  const text = shown === null ? '' : recordText(shown, en);
  expect(text).toMatch(/^VALID, as of 2026-03-01 10:49:00.000 UTC: ct_/);
  expect(text).toContain('Ayşe\\u{202e} <b>Yılmaz</b>\\u{1b}[31m');
  expect(text).toContain('  | We use cookies. <script>alert(1)</script>');
  expect(text.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('the command exits with the verdict of the record, and reports a record that it does not find', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'consent-verify-show-'));
  const file = (name: string, content: Uint8Array | string) => {
    writeFileSync(join(folder, name), content);
    return join(folder, name);
  };
  try {
    const options = {
      tsaCa: [file('root.der', authority.root.der)],
      ledgerKey: [file('ledger.key', LEDGER_KEY.verifierKey)],
      requireStamps: '1',
      language: 'en',
      at: VERIFIED_AT.toISOString(),
    };
    const zip = file('changed.zip', buildPackage(authority, changed));
    let printed = '';
    const output = {
      out: (text: string) => (printed += text),
      progress: { write: () => undefined },
      warn: () => undefined,
    };
    expect(await runShow(zip, consentToken(fixtureUuid('c3')).toUpperCase(), options, output)).toBe(0);
    expect(printed).toContain('(verdict of the whole package: invalid)');
    printed = '';
    expect(await runShow(zip, fixtureUuid('c2'), { ...options, json: true }, output)).toBe(1);
    expect(JSON.parse(printed)).toMatchObject({ format: 'consent-verify-record', verdict: 'invalid' });
    const html = join(folder, 'record.html');
    expect(await runShow(zip, fixtureUuid('c3'), { ...options, html }, output)).toBe(0);
    const page = readFileSync(html, 'utf8');
    expect(page).toMatch(/^<!doctype html>[\s\S]*default-src 'none'; style-src 'sha256-/);
    expect(page).toContain('We use cookies. &lt;script&gt;alert(1)&lt;/script&gt;');
    expect(page).toContain('The verdict of the whole package is invalid');
    await expect(runShow(zip, fixtureUuid('c3'), { ...options, html: zip }, output)).rejects.toThrow('package itself');
    await expect(runShow(zip, fixtureUuid('c9'), options, output)).rejects.toThrow(UsageError);
    await expect(runShow(zip, 'nonsense', options, output)).rejects.toThrow('not an event id');
  } finally {
    rmSync(folder, { recursive: true });
  }
});
