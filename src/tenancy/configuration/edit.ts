import { isDeepStrictEqual } from 'node:util';
import type { SiteConfigDraft } from '../../../schemas/api/panel/configuration.js';

/** A changed draft, and the part that was changed. Changes of drafts are pure; whether the whole still fits is judged when it is stored. */
export interface Edit<T> {
  readonly draft: SiteConfigDraft;
  readonly result: T;
}

/** Some members of a value; those that are undefined stay as they are. */
export type Partially<T> = { readonly [K in keyof T]?: T[K] | undefined };

/** The value with those members of a change that are given, and the names of those that are others now. */
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
