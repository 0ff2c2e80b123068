import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sha256 } from '../../schemas/crypto/digest.js';
import { toHex, utf8 } from '../../schemas/crypto/encoding.js';
import { saveAttachments } from '../../verifier-cli/src/cli/save-attachments.js';
import { en } from '../../verifier-cli/src/i18n/en/index.js';
import { htmlPage, RecordWatch, recordText } from '../../verifier-cli/src/index.js';
import { renderHtml } from '../../verifier-cli/src/rendering/markup.js';
import { pictureTypeOf } from '../../verifier-cli/src/rendering/picture-type.js';
import { recordPage } from '../../verifier-cli/src/show/record-page.js';
import type { ShownRecord } from '../../verifier-cli/src/show/shown-record.js';
import { fixtureAuthority } from '../support/ledger-fixture.js';
import { fixtureConsent, fixtureDisclosure, fixtureUuid } from '../support/ledger-fixture-events.js';
import { buildPackage, type PackageHooks } from '../support/package-builder.js';
import { PNG } from '../support/picture.js';
import { verifyFixture } from './support.js';

const authority = fixtureAuthority();
const SVG = utf8('<svg xmlns="http://www.w3.org/2000/svg" onload="alert(1)"/>');

/** A package whose record c3 has these files. */
function withFiles(files: Readonly<Record<string, readonly [string, Uint8Array]>>, hooks: PackageHooks = {}) {
  return buildPackage(authority, {
    ...hooks,
    world: ({ batches }) => {
      const disclosures = Object.entries(files).map(([name, [type, bytes]], i) =>
        fixtureDisclosure(`c3 file ${i}`, name, {
          sha256: toHex(sha256(bytes)),
          media_type: type,
          size: bytes.length,
        }),
      );
      const attachments = Object.values(files).map(([, bytes]) => bytes);
      const at = batches[1]?.findIndex(({ label }) => label === 'c3') ?? -1;
      batches[1]?.splice(at, 1, fixtureConsent('c3', 14, { disclosures, attachments }));
    },
  });
}

async function show(zip: Uint8Array): Promise<ShownRecord> {
  const watch = RecordWatch.of(fixtureUuid('c3'));
  await verifyFixture(authority, zip, {}, watch);
  if (watch?.shown == null) throw new Error('the package has no record c3');
  return watch.shown;
}

const pageOf = (shown: ShownRecord): string => htmlPage('Record', 'en', recordPage(shown, en));

test('the picture of a signature is on the page, which may load nothing else', async () => {
  const shown = await show(withFiles({ signature_image: ['image/png', PNG] }));
  expect(shown.verdict).toBe('valid');
  expect(shown.attachments).toMatchObject([{ name: 'signature_image', picture: 'image/png', size: PNG.length }]);
  const html = pageOf(shown);
  expect(html).toContain(`<img class="picture" alt="Signature" src="data:image/png;base64,`);
  expect(html).toContain(`content="default-src 'none'; img-src data:; style-src`);
  expect(recordText(shown, en)).toContain(`attachments/${toHex(sha256(PNG))}`);
});

test.each([
  ['SVG', SVG],
  ['HTML', utf8('<!doctype html><script>alert(1)</script>')],
  ['text with the first letters of a PNG', utf8('PNG')],
])('%s that was sent as a picture is not shown as one', async (_, bytes) => {
  const shown = await show(withFiles({ signature_image: ['image/png', bytes] }));
  expect(shown.attachments).toMatchObject([{ picture: null }]);
  const html = pageOf(shown);
  expect(html).not.toContain('<img');
  expect(html).not.toContain('img-src');
  expect(html).toContain('Not shown: the file is not a PNG');
  expect(html).not.toMatch(/<svg|<script/);
});

test('a document is shown as its source, whatever its type', async () => {
  const shown = await show(
    withFiles({ custom_document_content: ['text/html', utf8('<h1>Contract</h1><script>alert(1)</script>')] }),
  );
  const html = pageOf(shown);
  expect(html).toContain('&lt;h1&gt;Contract&lt;/h1&gt;&lt;script&gt;');
  expect(html).not.toContain('<script');
});

test('a document that is not text is named, and can be saved', async () => {
  const bytes = Uint8Array.of(0x25, 0x50, 0x44, 0x46, 0xff, 0xfe, 0x00);
  const shown = await show(withFiles({ custom_document_content: ['application/pdf', bytes] }));
  expect(pageOf(shown)).toContain('Not shown: the document is not text in UTF-8');
  const folder = mkdtempSync(join(tmpdir(), 'consent-verify-files-'));
  try {
    await saveAttachments(folder, shown);
    const [name = ''] = readdirSync(folder);
    expect(name).toBe(`document-${toHex(sha256(bytes)).slice(0, 12)}.bin`);
    expect(new Uint8Array(readFileSync(join(folder, name)))).toEqual(bytes);
    await expect(saveAttachments(folder, shown)).rejects.toThrow('cannot be written');
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('a file that was changed is not shown', async () => {
  const name = `attachments/${toHex(sha256(PNG))}`;
  const changed = PNG.map((octet, i) => (i === PNG.length - 1 ? octet ^ 1 : octet));
  const shown = await show(
    withFiles({ signature_image: ['image/png', PNG] }, { signedFiles: (files) => files.set(name, changed) }),
  );
  expect(shown.verdict).toBe('invalid');
  expect(shown.attachments).toEqual([]);
  expect(renderHtml(recordPage(shown, en))).not.toContain('<img');
});

test.each([
  ['image/jpeg', [0xff, 0xd8, 0xff, 0xe0]],
  ['image/gif', [...utf8('GIF89a')]],
  ['image/webp', [...utf8('RIFF'), 0, 0, 0, 0, ...utf8('WEBP')]],
  [null, [...utf8('RIFF'), 0, 0, 0, 0, ...utf8('WAVE')]],
  [null, []],
])('the first bytes of %s tell its type', (type, bytes) => {
  expect(pictureTypeOf(Uint8Array.from(bytes))).toBe(type);
});
