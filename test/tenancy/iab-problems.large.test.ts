import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { IabSettings, type TcfSettings } from '../../schemas/iab/iab-settings.js';
import { VendorList } from '../../schemas/iab/vendor-list.js';
import { DEMO_CONFIG } from '../../src/demo/seed/demo-texts.js';
import { iabProblems } from '../../src/tenancy/configuration/problems.js';
import { vendorListsIn } from '../../src/tenancy/configuration/vendor-lists.js';
import { inventedVendorList } from '../sdk/iab/vendor-list.js';

const sha256Of = (text: string): string => createHash('sha256').update(text).digest('hex');
const LIST = inventedVendorList(120, [2, 10, 28]);
const TCF: TcfSettings = {
  cmp_id: 300,
  cmp_version: 2,
  publisher_country: 'DE',
  vendor_list: { version: 120, sha256: sha256Of(JSON.stringify(LIST)) },
  vendors: [2, 10, 28],
  purposes: { analytics: [7, 8], marketing: [1, 3, 4] },
  special_features: { marketing: [1] },
};

describe('the signals of IAB in a draft', () => {
  const problemsOf = (iab: unknown, list: VendorList | null = VendorList.parse(LIST)) =>
    [...iabProblems({ iab: IabSettings.parse(iab), categories: [...DEMO_CONFIG.categories] }, list)].map(
      ({ field, message }) => `${field}: ${message}`,
    );

  test('that fit are published', () => {
    expect(problemsOf({ tcf: TCF, gpp: { cmp_id: 1, sections: ['usnat'], opt_out: ['marketing'] } })).toEqual([]);
  });

  // ISO 3166-1 alpha-2: UK is reserved, EU and XX are no countries, and SU is no longer one.
  test.each(['UK', 'EU', 'XX', 'ZZ', 'SU', 'YU'])('with the country %s are refused', (publisher_country) => {
    expect(problemsOf({ tcf: { ...TCF, publisher_country } })).toEqual([
      `iab.tcf.publisher_country: ${publisher_country} is not a country of ISO 3166-1; the United Kingdom is GB`,
    ]);
  });

  test('that do not fit are refused, each with its reason', () => {
    expect(problemsOf({ tcf: TCF }, null)).toEqual([
      `iab.tcf.vendor_list.sha256: the operator has no vendor list with the SHA-256 ${TCF.vendor_list.sha256} (variable IAB_VENDOR_LISTS)`,
    ]);
    const tcf = {
      ...TCF,
      vendor_list: { ...TCF.vendor_list, version: 119 },
      vendors: [2, 3, 10],
      purposes: { analytics: [7, 8], marketing: [8], adverts: [1], necessary: [2] },
    };
    const deleted = VendorList.parse(LIST);
    deleted.vendors[10] = { id: 10, deletedDate: '2026-01-01T00:00:00Z' };
    expect(problemsOf({ tcf, gpp: { cmp_id: 0, sections: ['usca'], opt_out: ['adverts'] } }, deleted)).toEqual([
      'iab.gpp.cmp_id: must be 1 for a platform that is not registered (IAB Tech Lab, CMP API of GPP, “What is CMP ID?”)',
      'iab.gpp.opt_out: there is no category adverts that visitors can refuse',
      'iab.tcf.purposes.adverts: there is no category adverts that visitors can refuse',
      'iab.tcf.purposes.necessary: there is no category necessary that visitors can refuse',
      'iab.tcf.purposes: a number is given to two categories, so that one answer could not be told from the other',
      'iab.tcf.vendor_list.version: the file has the version 120, not 119',
      'iab.tcf.vendors: the vendor list does not have 3, 10',
    ]);
  });

  test('as docs/iab.md shows them have the form of the configuration', async () => {
    const page = await readFile(new URL('../../docs/iab.md', import.meta.url), 'utf8');
    const [, json = ''] = /```json\n(.*?)```/s.exec(page) ?? [];
    expect(IabSettings.parse(JSON.parse(json)).tcf).toMatchObject({ vendors: TCF.vendors, purposes: TCF.purposes });
  });
});

test('a vendor list is found by its digest, also if it comes later, and everything else is ignored', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'consent-ledger-vendor-lists-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const find = vendorListsIn(folder);
  const later = JSON.stringify({ ...LIST, vendorListVersion: 121 });
  await writeFile(join(folder, 'notes.json'), '{"vendors": []}');
  await writeFile(join(folder, 'broken.json'), '{');
  await mkdir(join(folder, 'folder.json'));
  await symlink(join(folder, 'absent'), join(folder, 'link.json'));
  execFileSync('mkfifo', [join(folder, 'pipe.json')]);
  await writeFile(join(folder, 'v120.json'), JSON.stringify(LIST));
  expect((await find(TCF.vendor_list.sha256))?.list.vendorListVersion).toBe(120);
  expect(await find(sha256Of(later))).toBeNull();
  await writeFile(join(folder, 'v121.json'), later);
  const found = await Promise.all([find(sha256Of(later)), find(sha256Of(later))]);
  expect(found.map((file) => file?.bytes.toString('utf8'))).toEqual([later, later]);
  expect(await find(sha256Of('{'))).toBeNull();
  expect(await vendorListsIn(undefined)(TCF.vendor_list.sha256)).toBeNull();
});
