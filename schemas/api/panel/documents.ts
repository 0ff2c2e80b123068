import * as z from 'zod';
import { DOCUMENT_KINDS, DocumentVersionPublishedRecord } from '../../events/notices.js';
import { Sha256Hex, Uuid } from '../../evidence/primitives.js';
import { InputUuid } from '../common.js';
import { PageQuery, SiteParams, Timestamp } from './common.js';
import { Publication } from './publication.js';

export const VERSION_STATES = ['draft', 'published', 'active', 'retired'] as const;

const { slug: Slug, language: Language, title: Title, media_type: MediaType } = DocumentVersionPublishedRecord.shape;
const Kind = z.enum(DOCUMENT_KINDS);
const MEDIA_TYPE = 'Media type of the content, in lower case and without parameters, for example `text/html`.';
const CONTENT =
  'The text, or the canonical base64 of a binary media type: 1 to 2,097,152 bytes, 524,288 of `text/markdown`. Text media types are `text/…`, JSON and XML.';

const ActiveVersions = z.array(
  z.object({
    id: Uuid.describe('UUID of the object.'),
    language: z.string().describe('Language (BCP 47).'),
    number: z.int().describe('Number of the version, in the order of publication.'),
  }),
);

export const PanelDocument = z
  .object({
    id: Uuid.describe('UUID of the object.'),
    home_site_id: Uuid.describe('Site that the document belongs to. The document is changed there.'),
    slug: z.string().describe('Name of the document in URLs.'),
    kind: Kind.describe('Kind of the document.'),
    requires_approval_token: z.boolean().describe('Whether a consent to the document requires an approval token.'),
    created_at: Timestamp.describe('When it was created.'),
    active_versions: ActiveVersions.describe('The active version of each language at the site in the path.'),
  })
  .meta({ id: 'LegalDocument' });
export type PanelDocument = z.infer<typeof PanelDocument>;

export const DocumentsQuery = PageQuery.extend({
  kind: Kind.optional().describe('Only documents of this kind.'),
  slug: Slug.optional().describe('Only the document of this name.'),
});

export const CreateDocumentRequest = z.strictObject({
  slug: Slug.describe('Name of the document in URLs.'),
  kind: Kind.describe('Kind of the document.'),
  requires_approval_token: z
    .boolean()
    .default(false)
    .describe('Whether a consent to the document requires an approval token.'),
});

export const ChangeDocumentRequest = CreateDocumentRequest.extend({
  requires_approval_token: z.boolean().describe('Whether a consent to the document requires an approval token.'),
})
  .partial()
  .refine((change) => Object.keys(change).length > 0, 'must contain at least one member');

export const PanelDocumentParams = SiteParams.extend({ document_id: InputUuid.describe('The document.') });
export const AttachmentParams = PanelDocumentParams.extend({
  attached_site_id: InputUuid.describe('The site to which the document is attached.'),
});
export const VersionParams = PanelDocumentParams.extend({
  version_id: InputUuid.describe('The version of the document.'),
});

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
    id: Uuid.describe('UUID of the object.'),
    document_id: Uuid.describe('The document.'),
    home_version_id: Uuid.nullable().describe(
      'At a site that the document is attached to: the version of the home site with the same text. Null at the home site.',
    ),
    language: z.string().describe('Language (BCP 47).'),
    number: z
      .int()
      .nullable()
      .describe(
        'Number within the document and language, at the home site from 1 without gaps, or null for a draft. An attached site has the same numbers, unless it had reached them before.',
      ),
    title: z.string().describe('Title that visitors read.'),
    media_type: z.string().describe('Media type of the content.'),
    content_sha256: Sha256Hex.describe('SHA-256 of the content, in hex.'),
    size: z.int().describe('Size of the content in bytes.'),
    state: z.enum(VERSION_STATES).describe('Where it stands.'),
    published_at: Timestamp.nullable().describe('When it was published, or null for never.'),
    activated_at: Timestamp.nullable().describe(
      'When the version became the one that is shown, or null if it never did.',
    ),
    retired_at: Timestamp.nullable().describe('When another version replaced it, or null if none did.'),
    publication: Publication.nullable().describe('Where the log and the ledger have the version, or null for a draft.'),
  })
  .meta({ id: 'DocumentVersion' });
export type DocumentVersion = z.infer<typeof DocumentVersion>;

export const VersionsQuery = PageQuery.extend({
  language: Language.optional().describe('Only versions in this language.'),
  state: z.enum(VERSION_STATES).optional().describe('Only versions in this state.'),
});

export const CreateVersionRequest = z.strictObject({
  language: Language.describe('Language (BCP 47).'),
  title: Title.describe('Title that visitors read.'),
  media_type: MediaType.describe(MEDIA_TYPE),
  content: z.string().describe(CONTENT),
});

export const ChangeVersionRequest = z
  .strictObject({
    title: Title.describe('Title that visitors read.'),
    media_type: MediaType.describe(MEDIA_TYPE),
    content: z.string().describe(CONTENT),
  })
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
  retired_version_id: Uuid.nullable().describe(
    'The version of the same language that was active before, or null if none was.',
  ),
});

/** Response to a deletion. */
export const Deleted = z.object({
  id: z.string().describe('UUID of the object.'),
  deleted: z.literal(true).describe('Always true.'),
});
