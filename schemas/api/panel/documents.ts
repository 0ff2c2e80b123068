import { z } from 'zod';
import { DOCUMENT_KINDS, DocumentVersionPublishedRecord } from '../../events/notices.js';
import { Sha256Hex, Uuid } from '../../evidence/primitives.js';
import { PageQuery, SiteParams, Timestamp } from './common.js';
import { Publication } from './publication.js';

export const VERSION_STATES = ['draft', 'published', 'active', 'retired'] as const;

const { slug: Slug, language: Language, title: Title, media_type: MediaType } = DocumentVersionPublishedRecord.shape;
const Kind = z.enum(DOCUMENT_KINDS);

const ActiveVersions = z.array(z.object({ id: Uuid, language: z.string(), number: z.int() }));

export const PanelDocument = z
  .object({
    id: Uuid,
    home_site_id: Uuid.describe('Site that the document belongs to. The document is changed there.'),
    slug: z.string(),
    kind: Kind,
    requires_approval_token: z.boolean().describe('Whether a consent to the document requires an approval token.'),
    created_at: Timestamp,
    active_versions: ActiveVersions.describe('The active version of each language at the site in the path.'),
  })
  .meta({ id: 'Document' });
export type PanelDocument = z.infer<typeof PanelDocument>;

export const DocumentsQuery = PageQuery.extend({ kind: Kind.optional(), slug: Slug.optional() });

export const CreateDocumentRequest = z.strictObject({
  slug: Slug,
  kind: Kind,
  requires_approval_token: z.boolean().default(false),
});

export const ChangeDocumentRequest = CreateDocumentRequest.extend({ requires_approval_token: z.boolean() })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'must contain at least one member');

export const PanelDocumentParams = SiteParams.extend({ document_id: Uuid });
export const AttachmentParams = PanelDocumentParams.extend({ attached_site_id: Uuid });
export const VersionParams = PanelDocumentParams.extend({ version_id: Uuid });

/** A further site of the tenant that uses a document. */
export const DocumentAttachment = z
  .object({
    site_id: Uuid.describe('Site that the document is attached to.'),
    site_name: z.string().describe('Display name of the site.'),
    domain: z.string().describe('Domain of the site.'),
    attached_at: Timestamp.describe('Time from which the site uses the document.'),
    active_versions: ActiveVersions.describe('The active version of each language at the attached site.'),
  })
  .meta({ id: 'DocumentAttachment' });
export type DocumentAttachment = z.infer<typeof DocumentAttachment>;

export const DocumentVersion = z
  .object({
    id: Uuid,
    document_id: Uuid,
    home_version_id: Uuid.nullable().describe(
      'At a site that the document is attached to: the version of the home site with the same text. Null at the home site.',
    ),
    language: z.string(),
    number: z
      .int()
      .nullable()
      .describe(
        'Number within the document and language, at the home site from 1 without gaps; null for a draft. An attached site has the same numbers, unless it had reached them before.',
      ),
    title: z.string(),
    media_type: z.string(),
    content_sha256: Sha256Hex,
    size: z.int().describe('Size of the content in bytes.'),
    state: z.enum(VERSION_STATES),
    published_at: Timestamp.nullable(),
    activated_at: Timestamp.nullable(),
    retired_at: Timestamp.nullable(),
    publication: Publication.nullable().describe('Where the log and the ledger have the version; null for a draft.'),
  })
  .meta({ id: 'DocumentVersion' });
export type DocumentVersion = z.infer<typeof DocumentVersion>;

export const VersionsQuery = PageQuery.extend({
  language: Language.optional(),
  state: z.enum(VERSION_STATES).optional(),
});

export const CreateVersionRequest = z.strictObject({
  language: Language,
  title: Title,
  media_type: MediaType,
  content: z.string().describe('The text, or base64 for a binary media type.'),
});

export const ChangeVersionRequest = z
  .strictObject({ title: Title, media_type: MediaType, content: z.string() })
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'must contain at least one member');

export const PublishVersionRequest = z
  .strictObject({
    content_sha256: Sha256Hex.optional().describe(
      'SHA-256 of the content to publish: 409 if the draft has different content by now.',
    ),
  })
  .optional();

export const ActivatedVersion = z.object({
  data: DocumentVersion,
  retired_version_id: Uuid.nullable().describe('The version of the same language that was active before; null: none.'),
});

/** Response to a deletion. */
export const Deleted = z.object({ id: z.string(), deleted: z.literal(true) });
