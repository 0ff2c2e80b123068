import { type Command, Option } from 'commander';
import { DOCUMENT_KINDS } from '../../../schemas/events/notices.js';
import { documentAudit } from '../../api/panel/documents/audit.js';
import { documentOf } from '../../api/panel/documents/show-documents.js';
import { changeAsOperator } from '../../platform/audit-log/change-as-operator.js';
import type { Queryable } from '../../platform/database/pool.js';
import { createDocument, findDocument } from '../../tenancy/documents/create-document.js';
import { publishVersion } from '../../tenancy/documents/publish-version.js';
import { versionChangeDetails } from '../../tenancy/documents/version-change-details.js';
import { placeOfVersion, siteOfDocument, tenantOfSite } from '../../tenancy/sites/owner-of.js';
import { jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import { CommandError, EXIT } from '../command/exit-codes.js';
import { type ContentOptions, requireContentOption } from './content-option.js';
import { changeVersionAsOperator, draftAsOperator } from './document-version.js';

interface PublishOptions extends ContentOptions {
  readonly json?: boolean;
  readonly document?: string;
  readonly site?: string;
  readonly slug?: string;
  readonly kind: (typeof DOCUMENT_KINDS)[number];
  readonly requiresApprovalToken?: boolean;
  readonly language?: string;
  readonly title?: string;
  readonly mediaType: string;
}

/** `admin document publish`: publishes a draft by its id, or a text directly. */
export function publishCommand(context: CliContext): Command {
  return jsonCommand('publish', 'publish a draft, or a text as the next version of a document; does not activate it')
    .argument('[version]', 'id of the draft; without it, give the text with the options below', uuid)
    .option('--document <id>', 'id of the document', uuid)
    .option('--site <id>', 'with --slug: site of the document', uuid)
    .option('--slug <slug>', 'with --site: name of the document, which is created if it does not exist')
    .addOption(new Option('--kind <kind>', 'kind of a new document').choices(DOCUMENT_KINDS).default('other'))
    .option('--requires-approval-token', 'for a new document: require an approval token for consents to it')
    .option('--language <tag>', 'language of the text, e.g. en')
    .option('--title <title>', 'title of the text')
    .option('--media-type <type>', 'e.g. text/html, application/pdf', 'text/plain')
    .option('--content <text>', 'the text itself')
    .option('--file <path>', 'file with the content')
    .action(async (draft: string | undefined, options: PublishOptions) => {
      await withInstallation(context, async ({ adminPool }) => {
        const id = draft ?? (await draftText(adminPool, options));
        const version = await changeVersionAsOperator(adminPool, id, 'document_version.publish', async (db, siteId) => {
          return versionChangeDetails(await publishVersion(db, siteId, id));
        });
        const { siteId } = await placeOfVersion(adminPool, id);
        print(context, options, { ...version, site_id: siteId }, [
          `Version ${version.number} (${version.language}) is published: ${id}`,
          `Activate it: consent-ledger admin document activate ${id}`,
        ]);
      });
    });
}

async function draftText(db: Queryable, options: PublishOptions): Promise<string> {
  const { language, title, mediaType } = options;
  if (language === undefined || title === undefined) {
    throw new CommandError('Give the id of a draft, or a text with --language and --title.', EXIT.usage);
  }
  const content = await requireContentOption(options, mediaType);
  const { siteId, documentId } = await documentOfOptions(db, options);
  return (await draftAsOperator(db, { siteId, documentId, language, title, mediaType, content })).id;
}

async function documentOfOptions(
  db: Queryable,
  options: PublishOptions,
): Promise<{ readonly siteId: string; readonly documentId: string }> {
  const { document, site: siteId, slug, kind } = options;
  if (document !== undefined) return { siteId: await siteOfDocument(db, document), documentId: document };
  if (siteId === undefined || slug === undefined) {
    throw new CommandError('Give the document with --document, or with --site and --slug.', EXIT.usage);
  }
  const known = await findDocument(db, siteId, slug);
  if (known !== null) return { siteId, documentId: known.id };
  const requiresApprovalToken = options.requiresApprovalToken === true;
  const documentId = await changeAsOperator(db, async (db) => {
    const { id } = await createDocument(db, { siteId, slug, kind, requiresApprovalToken });
    const tenantId = await tenantOfSite(db, siteId);
    const audit = documentAudit(await documentOf(db, siteId, id), siteId);
    return { result: id, tenantId, action: 'document.create', ...audit };
  });
  return { siteId, documentId };
}
