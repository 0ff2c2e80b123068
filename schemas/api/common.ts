import { z } from 'zod';
import { Sha256Hex, Uuid } from '../evidence/primitives.js';

/** A language tag (BCP 47), as a caller asks for it. */
export const LanguageTag = z
  .string()
  .max(35)
  .regex(/^[A-Za-z]{2,3}(?:-[A-Za-z0-9]{2,8})*$/, 'must be a language tag like en or pt-BR');

export const LanguageQuery = z.object({ language: LanguageTag.optional() });

/** A version of a document, without its content. */
export const VersionSummary = z.object({
  id: Uuid,
  number: z.int(),
  language: z.string(),
  title: z.string(),
  media_type: z.string(),
  /** Of the UTF-8 of `content`; for a binary media type, of the bytes that its base64 decodes to. */
  content_sha256: Sha256Hex,
});

/** A document attached to a site, with its active version. */
export const DocumentSummary = z.object({
  id: Uuid,
  slug: z.string(),
  kind: z.string(),
  requires_approval_token: z.boolean(),
  language: z.string(),
  version: VersionSummary,
});
export type DocumentSummary = z.infer<typeof DocumentSummary>;
