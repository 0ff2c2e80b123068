import type { Command } from 'commander';
import type { DocumentAttachment } from '../../../schemas/api/panel/documents.js';
import { documentAudit } from '../../api/panel/documents/audit.js';
import { attachmentOf } from '../../api/panel/documents/show-attachments.js';
import { documentOf } from '../../api/panel/documents/show-documents.js';
import { changeAsOperator } from '../../platform/audit-log/change-as-operator.js';
import type { Queryable } from '../../platform/database/pool.js';
import { attachDocument, detachDocument } from '../../tenancy/documents/attach-document.js';
import { siteOfDocument, tenantOfSite } from '../../tenancy/sites/owner-of.js';
import { jsonCommand, uuid } from '../command/command.js';
import { type CliContext, print, withInstallation } from '../command/context.js';

interface AttachmentOptions {
  readonly json?: boolean;
  readonly site: string;
}

/** `admin document attach` */
export function attachCommand(context: CliContext): Command {
  return attachmentCommand('attach', 'attach a document to a further site of its tenant').action(
    async (id: string, options: AttachmentOptions) => {
      await withInstallation(context, async ({ adminPool }) => {
        const attachment = await changeAttachment(
          adminPool,
          id,
          options.site,
          'document.attach',
          async (db, homeId) => {
            const { changed } = await attachDocument(db, homeId, id, options.site);
            return { attachment: await attachmentOf(db, id, options.site), more: { changed } };
          },
        );
        print(context, options, attachment, [`Document ${id} is attached to ${attachment.domain}.`]);
      });
    },
  );
}

/** `admin document detach` */
export function detachCommand(context: CliContext): Command {
  return attachmentCommand('detach', 'detach a document from a site, and retire its versions there').action(
    async (id: string, options: AttachmentOptions) => {
      await withInstallation(context, async ({ adminPool }) => {
        const attachment = await changeAttachment(
          adminPool,
          id,
          options.site,
          'document.detach',
          async (db, homeId) => {
            const before = await attachmentOf(db, id, options.site);
            await detachDocument(db, homeId, id, options.site);
            return { attachment: before, more: {} };
          },
        );
        print(context, options, attachment, [`Document ${id} is detached from ${attachment.domain}.`]);
      });
    },
  );
}

function attachmentCommand(name: string, description: string): Command {
  return jsonCommand(name, description)
    .argument('<document>', 'id of the document', uuid)
    .requiredOption('--site <id>', 'id of the other site', uuid);
}

function changeAttachment(
  db: Queryable,
  documentId: string,
  attachedSiteId: string,
  action: string,
  work: (
    db: Queryable,
    homeId: string,
  ) => Promise<{ readonly attachment: DocumentAttachment; readonly more: { readonly changed?: boolean } }>,
): Promise<DocumentAttachment> {
  return changeAsOperator(db, async (db) => {
    const siteId = await siteOfDocument(db, documentId);
    const { attachment, more } = await work(db, siteId);
    const document = await documentOf(db, siteId, documentId);
    const tenantId = await tenantOfSite(db, siteId);
    const audit = documentAudit(document, siteId, { attached_site_id: attachedSiteId, ...more });
    return { result: attachment, tenantId, action, ...audit };
  });
}
