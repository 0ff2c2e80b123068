import { Command, Option } from 'commander';
import { DOCUMENT_KINDS } from '../../../schemas/events/notices.js';
import { documentAudit } from '../../api/panel/documents/audit.js';
import { attachmentList } from '../../api/panel/documents/show-attachments.js';
import { documentList, documentOf } from '../../api/panel/documents/show-documents.js';
import { versionList } from '../../api/panel/documents/show-versions.js';
import { changeAsOperator } from '../../platform/audit-log/change-as-operator.js';
import { changeDocument, type DocumentChange } from '../../tenancy/documents/change-document.js';
import { createDocument } from '../../tenancy/documents/create-document.js';
import { siteOfDocument, tenantOfSite } from '../../tenancy/sites/owner-of.js';
import { allPages } from '../command/all-pages.js';
import { jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';
import { attachCommand, detachCommand } from './document-attachment.js';
import {
  activateCommand,
  changeDraftCommand,
  contentCommand,
  deleteDraftCommand,
  draftCommand,
  retireCommand,
} from './document-version.js';
import { publishCommand } from './publish-document.js';

interface Json {
  readonly json?: boolean;
}

interface DocumentOptions extends Json {
  readonly slug?: string;
  readonly kind?: (typeof DOCUMENT_KINDS)[number];
  readonly requiresApprovalToken?: boolean;
}

/** `admin document …` */
export function documentCommand(context: CliContext): Command {
  const group = new Command('document').description('manage documents and their versions');
  for (const make of [
    listCommand,
    showCommand,
    createCommand,
    changeCommand,
    draftCommand,
    changeDraftCommand,
    deleteDraftCommand,
    publishCommand,
    activateCommand,
    retireCommand,
    attachCommand,
    detachCommand,
    contentCommand,
  ]) {
    group.addCommand(make(context));
  }
  return group;
}

function listCommand(context: CliContext): Command {
  return jsonCommand('list', 'list the documents of a site')
    .requiredOption('--site <id>', 'id of the site', uuid)
    .action(async (options: Json & { readonly site: string }) => {
      await withInstallation(context, async ({ adminPool }) => {
        await tenantOfSite(adminPool, options.site);
        const documents = await allPages((page) => documentList(adminPool, options.site, page));
        const lines = documents.map(
          ({ id, slug, kind, active_versions }) =>
            `${id}  ${slug}  ${kind}  active: ${active_versions.map(({ language, number }) => `${language} ${number}`).join(', ') || 'none'}`,
        );
        print(context, options, { documents }, lines.length === 0 ? ['The site has no documents.'] : lines);
      });
    });
}

function showCommand(context: CliContext): Command {
  return jsonCommand(
    'show',
    'show a document with its versions, their Merkle batches and time stamps, and the sites that it is attached to',
  )
    .argument('<document>', 'id of the document', uuid)
    .action(async (id: string, options: Json) => {
      await withInstallation(context, async ({ adminPool }) => {
        const siteId = await siteOfDocument(adminPool, id);
        const document = await documentOf(adminPool, siteId, id);
        const versions = await allPages((page) => versionList(adminPool, siteId, id, page));
        const attachments = await allPages((page) => attachmentList(adminPool, siteId, id, page));
        print(context, options, { ...document, site_id: siteId, versions, attachments }, [
          `${document.slug}, ${document.kind}${document.requires_approval_token ? ', requires approval tokens' : ''}`,
          ...versions.map(
            ({ id: versionId, language, number, state, content_sha256, publication }) =>
              `${versionId}  ${language} ${number ?? '-'}  ${state}  sha256 ${content_sha256}  batch ${publication?.sealed?.batch ?? '-'}  stamped ${publication?.stamped?.gen_time ?? '-'}`,
          ),
          ...attachments.map(
            ({ site_id, domain, attached_at }) => `attached to ${domain} (${site_id}) since ${attached_at}`,
          ),
        ]);
      });
    });
}

function createCommand(context: CliContext): Command {
  return jsonCommand('create', 'create a document without versions')
    .requiredOption('--site <id>', 'id of the site', uuid)
    .requiredOption('--slug <slug>', 'name of the document, e.g. cookie-policy')
    .addOption(new Option('--kind <kind>', 'kind of the document').choices(DOCUMENT_KINDS).default('other'))
    .option('--requires-approval-token', 'require an approval token for consents to it')
    .action(async (options: Required<DocumentOptions> & { readonly site: string }) => {
      const { site: siteId, slug, kind } = options;
      await withInstallation(context, async ({ adminPool }) => {
        const document = await changeAsOperator(adminPool, async (db) => {
          const requiresApprovalToken = options.requiresApprovalToken === true;
          const { id } = await createDocument(db, { siteId, slug, kind, requiresApprovalToken });
          const result = await documentOf(db, siteId, id);
          const tenantId = await tenantOfSite(db, siteId);
          return { result, tenantId, action: 'document.create', ...documentAudit(result, siteId) };
        });
        print(context, options, document, [`Created document ${document.id}.`]);
      });
    });
}

function changeCommand(context: CliContext): Command {
  return jsonCommand('change', 'change a document, unless a published version contradicts the change')
    .argument('<document>', 'id of the document', uuid)
    .option('--slug <slug>', 'name of the document')
    .addOption(new Option('--kind <kind>', 'kind of the document').choices(DOCUMENT_KINDS))
    .option('--requires-approval-token', 'require an approval token for consents to it')
    .option('--no-requires-approval-token', 'require no approval token')
    .action(async (id: string, options: DocumentOptions) => {
      const { slug, kind, requiresApprovalToken } = options;
      const change: DocumentChange = { slug, kind, requiresApprovalToken };
      await withInstallation(context, async ({ adminPool }) => {
        const document = await changeAsOperator(adminPool, async (db) => {
          const siteId = await siteOfDocument(db, id);
          const changed = await changeDocument(db, siteId, id, change);
          const result = await documentOf(db, siteId, id);
          const tenantId = await tenantOfSite(db, siteId);
          const audit = documentAudit(result, siteId, { changed: [...changed] });
          return { result, tenantId, action: 'document.change', ...audit };
        });
        print(context, options, document, [`Changed document ${id}.`]);
      });
    });
}
