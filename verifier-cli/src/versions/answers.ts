import { type ConsentCategory, serviceKeys } from '../../../schemas/events/site-config.js';
import type { ConsentMembers } from './schemes.js';

/** An answer of a record to a category, or to a service, whose path is `category/service`. */
export interface Answer {
  readonly path: string;
  readonly isGranted: boolean;
}

/**
 * All answers of a record, those to categories first. No key of a configuration contains `/`, but a forged record may
 * have one: as a category it must not read as a service.
 */
export function answersOf({
  categories,
  services,
}: Pick<ConsentMembers, 'categories' | 'services'>): readonly Answer[] {
  const ofCategories = Object.entries(categories ?? {}).map(([key, isGranted]) => ({
    path: key.includes('/') ? `${key}/` : key,
    isGranted,
  }));
  const ofServices = Object.entries(services ?? {}).flatMap(([category, answers]) => {
    const all = Object.entries(answers);
    // A category without an answer below it is named all the same, by a path that no configuration has.
    if (all.length === 0) return [{ path: `${category}/`, isGranted: false }];
    return all.map(([key, isGranted]) => ({ path: `${category}/${key}`, isGranted }));
  });
  return [...ofCategories, ...ofServices];
}

/** The paths that a record permits: of a permitted category without those of its services. */
export function permittedPaths(consent: Pick<ConsentMembers, 'categories' | 'services'>): readonly string[] {
  const { categories, services } = consent;
  const rest = Object.entries(services ?? {}).filter(([category]) => categories?.[category] !== true);
  return answersOf({ categories, services: Object.fromEntries(rest) }).flatMap(({ path, isGranted }) =>
    isGranted ? [path] : [],
  );
}

/** The paths on which a person could decide under a category. */
export function pathsOf(category: ConsentCategory, hasSwitches: boolean): readonly string[] {
  const { key } = category;
  return [key, ...(hasSwitches ? serviceKeys(category).map((service) => `${key}/${service}`) : [])];
}

/** A category that the record permits although it refuses one of the services below it, or null if there is none. */
export function contradictedCategory({
  categories,
  services,
}: Pick<ConsentMembers, 'categories' | 'services'>): string | null {
  const permitted = Object.entries(services ?? {}).filter(([category]) => categories?.[category] === true);
  return permitted.find(([, answers]) => Object.values(answers).includes(false))?.[0] ?? null;
}
