import * as z from 'zod';
import { Uuid } from '../../evidence/primitives.js';

/** Kinds of things that have a page in the dashboard, or a name that people know. */
export const NAMED_KINDS = [
  'api_key',
  'consent',
  'document',
  'document_version',
  'erasure',
  'export',
  'invitation',
  'site',
  'tenant',
  'user',
  'webhook',
] as const;
export type NamedKind = (typeof NAMED_KINDS)[number];

/** A thing of the tenant that exists, by its id. */
export const NamedThing = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    kind: z.enum(NAMED_KINDS).describe('Kind of the object.'),
    name: z.string().nullable().describe('Its name, address or host, or null if it has none.'),
    site_id: Uuid.nullable().describe('Its site, or null.'),
    document_id: Uuid.nullable().describe('The document of a version, or null.'),
  })
  .meta({ id: 'NamedThing' });
export type NamedThing = z.output<typeof NamedThing>;
