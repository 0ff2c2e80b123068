import type { Configuration } from './answers.js';
import { isAskedFor, type Kept } from './choice.js';
import { type Guard, isNumber, isText, listOf, objectOf, recordOf } from './guards.js';

/**
 * What a question asks for: first the optional categories, their purposes and special features; then who receives data,
 * recipients and services by category, and vendors. The wording is that of the document version.
 */
export type Asked = readonly (readonly string[])[];
export const isAsked: Guard<string[][]> = listOf(listOf(isText));

/** The part of `iab` that the question asks for. */
interface Tcf {
  readonly vendors: readonly number[];
  readonly purposes: Readonly<Record<string, readonly number[]>>;
  readonly special_features: Readonly<Record<string, readonly number[]>>;
}
const areNumbers = listOf(isNumber);
const isTcf = objectOf<{ tcf: Tcf }>({
  tcf: objectOf<Tcf>({ vendors: areNumbers, purposes: recordOf(areNumbers), special_features: recordOf(areNumbers) }),
});

/** @see Asked */
export function askedIn({ categories, iab }: Pick<Configuration, 'categories' | 'iab'>): Asked {
  const { vendors = [], purposes = {}, special_features = {} }: Partial<Tcf> = isTcf(iab) ? iab.tcf : {};
  const optional = categories.filter(isAskedFor);
  const named = (kind: string, by: Tcf['purposes'], all?: readonly number[]): string[] =>
    Object.entries(by).flatMap(([key, some]) => (all ?? some).map((one) => `${key}/${kind}${one}`));
  return [
    [...optional.map(({ key }) => key), ...named('p', purposes), ...named('f', special_features)],
    // A vendor joins every category that has purposes.
    [
      ...optional.flatMap(({ key, recipients, services = [] }) => [
        ...recipients.map((one) => `${key}/r${one}`),
        ...services.map((one) => `${key}/s/${one.key}/${one.recipient}`),
      ]),
      ...named('v', purposes, vendors),
    ],
  ];
}

/** Two short digests, one for each list, which the cookie of the choice keeps. */
export function digestsOf(asked: Asked): string {
  return asked.map(digestOf).join('.');
}

/**
 * 32 bits are enough to notice an operator's changes. The digest need not resist someone who searches for a collision.
 */
function digestOf(list: readonly string[]): string {
  return hashOf([...list].sort().join('\n'));
}

/** FNV-1a over 16-bit units, 32 bits in base 36. @param seed another one gives another hash */
export function hashOf(text: string, seed = 1): string {
  let hash = seed;
  for (const unit of text.split('')) hash = Math.imul(hash ^ unit.charCodeAt(0), 0x01000193);
  return (hash >>> 0).toString(36);
}

/**
 * What the question of a choice asked for.
 * @param stored the lists that the device kept with a choice
 * @returns undefined if nobody knows
 */
export function askedWith({ asked }: Kept, configuration: Configuration, stored: Asked | undefined): Asked | undefined {
  return [askedIn(configuration), stored].find((one) => one !== undefined && digestsOf(one) === asked);
}

/**
 * Whether the person of a choice is asked again under a configuration that names the same policy and categories. The
 * choice counts meanwhile, for what was asked then.
 * @param stored the stored lists, as for `askedWith`
 * @returns null if nobody knows what was asked, so that the choice does not count
 */
export function isAskedMore(kept: Kept, configuration: Configuration, stored: Asked | undefined): boolean | null {
  const { asked = '', isPermitted, categories, services } = kept;
  const now = askedIn(configuration);
  const before = askedWith(kept, configuration, stored);
  if (before === undefined) {
    // A refusal remains one regardless of who receives data, even if it is from before digests were kept.
    const isOther = asked !== '' && asked.split('.')[0] !== digestsOf(now).split('.')[0];
    return isPermitted || isOther ? null : false;
  }
  const [more, receivers] = now.map((list, i) => list.filter((one) => !before[i]?.includes(one)));
  // Left on where nobody was asked for it, which is no consent.
  const wasAsked = new Set(more?.map((one) => before[0]?.includes(one.split('/')[0] ?? '')));
  if (isPermitted && wasAsked.has(false)) return null;
  const isPermittedTo = (one: string): boolean | undefined => {
    const [category = '', , service = ''] = one.split('/');
    return categories[category] || services?.[service];
  };
  return wasAsked.has(true) || receivers?.some(isPermittedTo) === true;
}
