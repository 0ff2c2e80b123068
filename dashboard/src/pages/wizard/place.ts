/** The steps of the wizard, in their order. */
export const PLACES = ['site', 'policy', 'banner', 'publish'] as const;
export type Place = (typeof PLACES)[number];

/** The place in the wizard, as the address has it. */
interface Shown {
  /** Id of the site, once it is added. */
  readonly site?: string | undefined;
  readonly step?: Place | undefined;
}

/** Reads the place in an address. Values that are not valid are ignored. */
export function placeOf(search: Readonly<Record<string, unknown>>): Shown {
  return {
    site: typeof search.site === 'string' ? search.site : undefined,
    step: PLACES.find((place) => place === search.step),
  };
}
