import { describe, expect, it } from 'vitest';
import { COMPLIANCE_FRAMEWORKS } from '../../../schemas/events/consent-recorded.js';
import { FRAMEWORK_PLACES, frameworkOf } from '../../../schemas/law/framework-places.js';

describe('frameworkOf', () => {
  it.each([
    ['TR', null, 'kvkk'],
    ['TR', '34', 'kvkk'],
    ['DE', 'BW', 'gdpr'],
    ['NO', null, 'gdpr'],
    ['RE', null, 'gdpr'],
    ['GB', 'SCT', 'uk_gdpr'],
    ['US', 'CA', 'ccpa'],
    ['US', 'NY', 'none'],
    ['US', null, null],
    ['CA', null, 'pipeda'],
    ['CA', 'QC', 'pipeda'],
    ['BR', null, 'lgpd'],
    ['ZA', null, 'popia'],
    ['CN', null, 'pipl'],
    ['KR', null, 'pipa'],
    ['IN', 'MH', 'dpdp'],
    ['CH', null, 'fadp'],
    ['AU', null, 'none'],
    [null, null, null],
    [null, 'CA', null],
  ])('%s %s: %s', (country, region, framework) => {
    expect(frameworkOf(country, region)).toBe(framework);
  });

  it('covers every framework of the specification, and lists no place twice', () => {
    const places = FRAMEWORK_PLACES.flatMap((row) => row.places);
    expect(new Set(places).size).toBe(places.length);
    expect([...FRAMEWORK_PLACES.map(({ framework }) => framework), 'none']).toEqual([...COMPLIANCE_FRAMEWORKS]);
    for (const place of places) expect(place).toMatch(/^[A-Z]{2}(-[A-Z0-9]{1,3})?$/);
    expect(FRAMEWORK_PLACES.find(({ framework }) => framework === 'gdpr')?.places).toHaveLength(27 + 7 + 3);
  });
});
