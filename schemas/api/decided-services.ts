import * as z from 'zod';

/** The decision on each service of the site by its key, as every response shows it. */
export const DecidedServices = z
  .record(z.string(), z.boolean())
  .nullable()
  .describe('The decision on each service: true if accepted; null: none was asked for.');
