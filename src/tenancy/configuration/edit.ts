import { isDeepStrictEqual } from 'node:util';
import type { SiteConfigDraft } from '../../../schemas/api/panel/configuration.js';

/**
 * A changed draft and a result about the change. Edits are pure functions; the whole draft is
 * validated when it is stored.
 */
export interface Edit<T> {
  readonly draft: SiteConfigDraft;
  readonly result: T;
}

/** Some members of a value; undefined members remain unchanged. */
export type Partially<T> = { readonly [K in keyof T]?: T[K] | undefined };

/**
 * Applies the defined members of a change.
 * @returns the new value, and the names of the members that differ
 */
export function merged<T extends object>(
  before: T,
  change: Partially<NoInfer<T>>,
): { readonly value: T; readonly changed: readonly string[] } {
  const given = Object.fromEntries(Object.entries(change).filter(([, value]) => value !== undefined));
  const value = { ...before, ...given };
  const changed = Object.entries(given)
    .filter(([name, now]) => !isDeepStrictEqual(now, Reflect.get(before, name)))
    .map(([name]) => name);
  return { value, changed };
}
