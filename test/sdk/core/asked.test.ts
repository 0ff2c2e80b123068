import { describe, expect, test } from 'vitest';
import type { Configuration } from '../../../sdk/core/answers.js';
import { askedIn, digestsOf, isAskedMore } from '../../../sdk/core/asked.js';
import type { Kept } from '../../../sdk/core/choice.js';
import { configurationIn } from './model/site.js';

interface Change {
  readonly recipients?: readonly string[];
  readonly vendors?: readonly number[];
  readonly purposes?: Readonly<Record<string, readonly number[]>>;
  readonly special_features?: Readonly<Record<string, readonly number[]>>;
  readonly title?: string;
}
/** The site, whose category `marketing` has these recipients. */
function site({ recipients = ['Ads'], title = 'Marketing', ...tcf }: Change = {}): Configuration {
  const configuration = configurationIn('gdpr');
  return {
    ...configuration,
    categories: configuration.categories.map((one) =>
      one.key === 'marketing' ? { ...one, title, recipients: [...recipients] } : one,
    ),
    iab: { tcf: { vendors: [2, 10], purposes: { marketing: [1, 3] }, special_features: { marketing: [1] }, ...tcf } },
  };
}
const BEFORE = askedIn(site());
const chose = (categories: Record<string, boolean>, asked: string | undefined = digestsOf(BEFORE)): Kept => ({
  at: 1,
  decision: 'partial',
  categories,
  document_version_id: 'v1',
  language: 'en',
  isVoid: false,
  isSignalled: false,
  isPermitted: Object.values(categories).includes(true),
  wasPermitted: false,
  asked,
});
const PERMITTED = { analytics: true, marketing: true };
const OTHER = { analytics: true, marketing: false };
const REFUSED = { analytics: false, marketing: false };

describe('a choice after another configuration', () => {
  // The rules of docs/sdk-rules.md, “When a visitor is asked again”.
  test.each([
    ['nothing changes', {}, [false, false, false], [false, false, false]],
    ['a text changes', { title: 'Adverts' }, [false, false, false], [false, false, false]],
    ['a recipient is added', { recipients: ['Ads', 'B'] }, [true, false, false], [null, null, false]],
    ['a recipient is gone', { recipients: [] }, [false, false, false], [null, null, false]],
    ['a vendor is added', { vendors: [2, 10, 28] }, [true, false, false], [null, null, false]],
    ['a vendor is gone', { vendors: [2] }, [false, false, false], [null, null, false]],
    ['a purpose is added', { purposes: { marketing: [1, 3, 4] } }, [true, true, true], [null, null, null]],
    ['a special feature is added', { special_features: { marketing: [1, 2] } }, [true, true, true], [null, null, null]],
    ['a purpose is gone', { purposes: { marketing: [1] } }, [false, false, false], [null, null, null]],
  ])('in which %s', (_, change: Change, known, lost) => {
    const now = site(change);
    const answers = (stored: typeof BEFORE | undefined) =>
      [PERMITTED, OTHER, REFUSED].map((categories) => isAskedMore(chose(categories), now, stored));
    expect(answers(BEFORE)).toEqual(known);
    // The browser deleted the lists before the cookie.
    expect(answers(undefined)).toEqual(lost);
    // The lists are of another choice.
    expect(answers([['analytics'], []])).toEqual(lost);
  });

  test('from before digests were kept asks once who permitted something', () => {
    const askedBefore = (categories: Record<string, boolean>) =>
      isAskedMore({ ...chose(categories), asked: undefined }, site(), BEFORE);
    expect([PERMITTED, OTHER, REFUSED].map(askedBefore)).toEqual([null, null, false]);
  });

  test('has digests that keep no order, and fit into a cookie with 1,500 vendors', () => {
    const vendors = Array.from({ length: 1_500 }, (_, index) => index + 1);
    const one = digestsOf(askedIn(site({ vendors })));
    expect(digestsOf(askedIn(site({ vendors: vendors.toReversed() })))).toBe(one);
    expect(one.length).toBeLessThanOrEqual(15);
  });
});
