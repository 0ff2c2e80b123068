import type { ConsentRequest } from '../../../schemas/api/consents.js';
import type { FieldError } from '../../../schemas/api/error-codes.js';
import type { ConsentRecordV2 } from '../../../schemas/events/consent-recorded.js';
import { type ServiceConfiguration, serviceKeys } from '../../../schemas/events/site-config.js';
import { ownMember } from '../../../schemas/json/own-member.js';

type Choice = Pick<ConsentRequest, 'categories' | 'services' | 'decision'>;

/**
 * Returns the decision on every service of the configuration, by its category. A service that the request does not name
 * has the answer of its category, so that a caller who knows only categories permits what a person who pressed them
 * would. Where the request names a service and not its category, the others are refused: so the records of a site name
 * all services of a category or none, and visitors cannot make many kinds of records, each of which a verifier keeps.
 * @returns null if visitors cannot decide on services, or if the request decides on none of them
 */
export function decidedServices(
  { categories, services }: Choice,
  config: ServiceConfiguration,
): ConsentRecordV2['services'] {
  if (config.service_switches !== true) return null;
  const decided = config.categories.flatMap((category) => {
    const keys = serviceKeys(category);
    const isNamed = keys.some((key) => ownMember(services, key) !== undefined);
    const ofCategory = ownMember(categories, category.key) ?? (isNamed ? false : undefined);
    if (keys.length === 0 || ofCategory === undefined) return [];
    return [
      [category.key, Object.fromEntries(keys.map((key) => [key, ownMember(services, key) ?? ofCategory]))] as const,
    ];
  });
  return decided.length === 0 ? null : Object.fromEntries(decided);
}

/**
 * Returns the decisions on categories, of which none is granted if one of its services is refused. Only a withdrawal,
 * which is never refused for its form, can ask for that.
 */
export function withoutContradiction(
  categories: ConsentRecordV2['categories'],
  services: ConsentRecordV2['services'],
): ConsentRecordV2['categories'] {
  if (categories === null || services === null) return categories;
  const isWhole = (key: string): boolean => !Object.values(services[key] ?? {}).includes(false);
  return Object.fromEntries(Object.entries(categories).map(([key, isGranted]) => [key, isGranted && isWhole(key)]));
}

/**
 * Returns the services that contradict the category to which they belong, or the decision. A reader who knows only
 * categories must never permit a service that the person refused.
 */
export function contradictoryServices(
  { categories, services, decision }: Choice,
  config: ServiceConfiguration,
): FieldError[] {
  if (services == null || decision === 'withdrawn' || config.service_switches !== true) return [];
  return config.categories.flatMap((category) =>
    serviceKeys(category).flatMap((key): FieldError[] => {
      const isGranted = ownMember(services, key);
      const field = `services.${key}`;
      if (isGranted === false && category.required)
        return [{ field, message: `belongs to the required category ${category.key}, which a person cannot refuse` }];
      if (isGranted === false && ownMember(categories, category.key) === true)
        return [
          { field, message: `is refused, but its category ${category.key} is granted: send false for the category` },
        ];
      return isGranted === true && !category.required && decision === 'rejected'
        ? [{ field, message: 'is granted, but the decision is rejected: send partial, or false' }]
        : [];
    }),
  );
}
