import * as z from 'zod';

const Decided = z.record(z.string(), z.boolean()).nullable();

/** The decision on each category by its key, as every response shows it. */
export const DecidedCategories = Decided.describe(
  'The decision on each category: true if accepted. Null if the consent has no categories.',
);

/** The decision on each service of the site by its key, as every response shows it. */
export const DecidedServices = Decided.describe(
  'The decision on each service: true if accepted; null: none was asked for.',
);
