import * as z from 'zod';
import { UriReference } from './linkset.js';

/**
 * The draft's CDDL schema ("AI Catalog"), closed; of what this service leaves out (trust manifests,
 * publishers) only that it is not there.
 */
const CatalogEntry = z
  .strictObject({
    identifier: z.string().min(1),
    displayName: z.string().min(1).optional(),
    type: z.string().min(1),
    url: UriReference.optional(),
    data: z.json().optional(),
    version: z.string().optional(),
    description: z.string().optional(),
    tags: z.array(z.string()).optional(),
    updatedAt: z.iso.datetime({ offset: true }).optional(),
  })
  .refine(({ url, data }) => (url === undefined) !== (data === undefined), 'not exactly one of url and data');

/** Conformance level 2: with a host. */
export const AiCatalog = z.strictObject({
  specVersion: z.string().regex(/^\d+\.\d+$/),
  host: z.strictObject({
    displayName: z.string().min(1),
    identifier: z.string().optional(),
    documentationUrl: UriReference.optional(),
    logoUrl: z.string().optional(),
  }),
  entries: z.array(CatalogEntry).refine((entries) => {
    const names = entries.map(({ identifier, version }) => `${identifier} ${version ?? ''}`);
    return new Set(names).size === names.length;
  }, 'an identifier twice'),
});
