import { z } from 'zod';
import { DOCUMENT_KINDS, DocumentVersionPublishedRecord } from '../../events/notices.js';
import { Sha256Hex, Uuid } from '../../evidence/primitives.js';
import { PageQuery, SiteParams, Timestamp } from './common.js';
import { Publication } from './publication.js';

export const VERSION_STATES = ['draft', 'published', 'active', 'retired'] as const;

const { slug: Slug, language: Language, title: Title, media_type: MediaType } = DocumentVersionPublishedRecord.shape;
const Kind = z.enum(DOCUMENT_KINDS);

export const PanelDocument = z.object({
  id: Uuid,
  slug: z.string(),
  kind: Kind,
  /** Whether a consent to it needs an approval token. */
  requires_approval_token: z.boolean(),
  created_at: Timestamp,
  /** One for each language at most. */
  active_versions: z.array(z.object({ id: Uuid, language: z.string(), number: z.int() })),
});
export type PanelDocument = z.infer<typeof PanelDocument>;

export const DocumentsQuery = PageQuery.extend({ kind: Kind.optional(), slug: Slug.optional() });

export const CreateDocumentRequest = z.strictObject({
  slug: Slug,
  kind: Kind,
  requires_approval_token: z.boolean().default(false),
});

export const ChangeDocumentRequest = CreateDocumentRequest.extend({ requires_approval_token: z.boolean() })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'name at least one member');

export const PanelDocumentParams = SiteParams.extend({ document_id: Uuid });
export const VersionParams = PanelDocumentParams.extend({ version_id: Uuid });

export const DocumentVersion = z.object({
  id: Uuid,
  document_id: Uuid,
  language: z.string(),
  /** Within its document and language, from 1 without gaps; null for a draft. */
  number: z.int().nullable(),
  title: z.string(),
  media_type: z.string(),
  content_sha256: Sha256Hex,
  /** Of the content, in bytes. */
  size: z.int(),
  state: z.enum(VERSION_STATES),
  published_at: Timestamp.nullable(),
  activated_at: Timestamp.nullable(),
  retired_at: Timestamp.nullable(),
  /** Null for a draft. */
  publication: Publication.nullable(),
});
export type DocumentVersion = z.infer<typeof DocumentVersion>;

export const VersionsQuery = PageQuery.extend({
  language: Language.optional(),
  state: z.enum(VERSION_STATES).optional(),
});

export const CreateVersionRequest = z.strictObject({
  language: Language,
  title: Title,
  media_type: MediaType,
  /** The text, or base64 for a binary media type. */
  content: z.string(),
});

export const ChangeVersionRequest = z
  .strictObject({ title: Title, media_type: MediaType, content: z.string() })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'name at least one member');

export const PublishVersionRequest = z
  .strictObject({
    /** Of the content that is meant: refused if the draft has another by now. */
    content_sha256: Sha256Hex.optional(),
  })
  .optional();

export const ActivatedVersion = z.object({
  data: DocumentVersion,
  /** The version of the same language that was active before; null: none. */
  retired_version_id: Uuid.nullable(),
});

/** What a deletion answers. */
export const Deleted = z.object({ id: z.string(), deleted: z.literal(true) });
